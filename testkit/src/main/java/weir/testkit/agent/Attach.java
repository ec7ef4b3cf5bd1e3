package weir.testkit.agent;

import com.sun.tools.attach.VirtualMachine;

/**
 * Loads the agent into the JVM of a process id. Runs in a JVM of its own, since no JVM may attach
 * to itself.
 */
public final class Attach {
  private Attach() {}

  public static void main(String[] arguments) throws Exception {
    var machine = VirtualMachine.attach(arguments[0]);
    try {
      machine.loadAgent(arguments[1]);
    } finally {
      machine.detach();
    }
  }
}
