package weir.lab

import java.io.PrintStream
import scala.util.Try

import weir.program.Result

/** Writes the messages of a measuring JVM to its standard output, one JSON object a line. */
final class ChildOutput(out: PrintStream):
  import ChildOutput.Message

  def result(result: Result): Unit = send(Message.Measured(result))

  /** Sends a progress message; the meaning of `json` is up to sender and receiver. */
  def event(json: ujson.Obj): Unit = send(Message.Event(json))

  def failed(name: String, system: String, why: String): Unit =
    send(Message.Failed(name, system, why))

  /** A line is written whole, also when several threads write. */
  private def send(message: Message): Unit = out.synchronized:
    out.println(ujson.write(message.toJson))
    out.flush()

object ChildOutput:
  enum Message:
    case Measured(result: Result)
    case Event(json: ujson.Obj)

    /** There is no figure for this case. */
    case Failed(name: String, system: String, why: String)

    def toJson: ujson.Obj = this match
      case Measured(result) => ujson.Obj("result" -> result.toJson)
      case Event(json) => ujson.Obj("event" -> json)
      case Failed(name, system, why) =>
        ujson.Obj("failed" -> ujson.Obj("case" -> name, "system" -> system, "why" -> why))

  /** Returns the message that the line is; none if something else printed it, as libraries may. */
  def parse(line: String): Option[Message] =
    if !line.startsWith("{\"") then None
    else Try(ujson.read(line).obj.head).toOption.flatMap(read)

  private def read(field: (String, ujson.Value)): Option[Message] = field match
    case ("result", result) => Try(Message.Measured(Result.fromJson(result))).toOption
    case ("event", event: ujson.Obj) => Some(Message.Event(event))
    case ("failed", failed) =>
      Try(Message.Failed(failed("case").str, failed("system").str, failed("why").str)).toOption
    case _ => None
