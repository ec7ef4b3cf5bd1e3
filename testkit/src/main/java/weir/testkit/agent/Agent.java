package weir.testkit.agent;

import java.lang.instrument.Instrumentation;

/**
 * The class that the JVM starts when the agent is loaded. It leaves the {@link Instrumentation}
 * where the test kit finds it, whatever class loader the test kit is in.
 *
 * <p>This is Java code, as is all of this package, since the JVM starts it without the Scala
 * library.
 */
public final class Agent {
  private Agent() {}

  public static final String KEY = "weir.testkit.instrumentation";

  public static void premain(String options, Instrumentation instrumentation) {
    agentmain(options, instrumentation);
  }

  public static void agentmain(String options, Instrumentation instrumentation) {
    System.getProperties().put(KEY, instrumentation);
  }
}
