package weir.trace

import java.nio.file.{Files, Path}
import weir.WeirRuntime

/** Writes the dump of the default runtime to a file, or prints it if no file is given.
  * `jcmd PID JVMTI.agent_load weir-core.jar FILE` calls it inside of the process.
  */
private[weir] object DumpAgent:
  def agentmain(file: String | Null): Unit =
    val text = WeirRuntime.default.dump()
    if (file eq null) || file.isEmpty then System.err.println(text)
    else Files.writeString(Path.of(file), text): Unit
