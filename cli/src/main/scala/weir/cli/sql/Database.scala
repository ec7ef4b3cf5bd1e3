package weir.cli.sql

import weir.{Resource, Task}

/** The database of a run: an existing one, or one of the program's own. */
object Database:
  /** Returns the address of the database for `ScriptConnection.open`. */
  def url(settings: SqlSettings): Resource[String] =
    if settings.isEmbedded then EmbeddedServer.resource.map(_.url)
    else if Rehearsal.isOne then Rehearsal.resource
    else Resource.pure(settings.db.getOrElse(""))

  /** Says where the server is, and leaves it up until it is cancelled. */
  def keepUp(url: String, say: String => Unit): Task[Nothing] =
    Task
      .delay:
        say("")
        say(s"The server is up until Ctrl-C:")
        say(s"  psql '$url'")
        say(s"  ./weir sql FILE --db '$url'")
      .flatMap(_ => Task.never)
