package weir.trace

import java.nio.file.{Files, Path}
import weir.Runtime

/** What `jcmd PID JVMTI.agent_load weir-core.jar FILE` calls inside of the process: writes the dump to the file, or prints it where
  * none is given.
  */
private[weir] object DumpAgent:
  def agentmain(file: String | Null): Unit =
    val text = Runtime.default.dump()
    if (file eq null) || file.isEmpty then System.err.println(text)
    else Files.writeString(Path.of(file), text): Unit
