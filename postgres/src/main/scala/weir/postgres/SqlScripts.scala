package weir.postgres

import weir.{Stream, Task}
import weir.postgres.send.Deliveries

/** Scripts that belong together. */
object SqlScripts:
  /** What it has come to, once all scripts have been applied, one after the other, over one connection, and with `options.jobs`
    * over more.
    *
    * '''Cancelled''' and '''Fails''', with a `ScriptException`: what is open on the server has been cancelled and rolled back.
    *
    * @param through
    *   what the pieces of each script go through before they are applied; it must leave all of them, in their order
    */
  def applyTo(
      connection: ScriptConnection,
      scripts: List[SqlScript],
      options: ApplyOptions = ApplyOptions(),
      listener: ApplyListener = ApplyListener.none,
      through: Stream[Piece] => Stream[Piece] = identity
  ): Task[ApplySummary] =
    val sources = scripts.map(script =>
      (script.name, (sum: Option[journal.Checksum]) => through(script.piecesSummed(sum)))
    )
    Deliveries(connection, sources, options, listener)
