package weir.postgres

import org.postgresql.core.TransactionState
import weir.Task
import weir.postgres.apply.Deliveries
import weir.postgres.input.Checksum
import weir.postgres.jobs.ParallelCopy
import weir.postgres.psql.Commands
import weir.postgres.split.FollowedSettings

/** Scripts that belong together. */
object SqlScripts:
  /** Returns the summary, once all scripts have been applied, one after the other, over one
    * connection, and with `options.jobs` over more.
    *
    * Each statement is sent alone, as psql does, so without BEGIN each is a transaction. For as
    * long as a script sets no other, `client_min_messages` is `warning`.
    *
    * **Waits** for the server, with `options.prefetch` of the scripts split ahead. **Cancelled**:
    * asks the server to cancel the statement that it executes, and rolls back the open transaction.
    * **Fails** with a `ScriptException` with the place of the first error, whose `server` says
    * whether the connection was lost, and whose `summary` what was done before; the open
    * transaction has been rolled back then. A script that leaves a transaction open fails at its
    * end, so that nothing is lost silently.
    */
  def applyTo(
      connection: ScriptConnection,
      scripts: List[SqlScript],
      options: ApplyOptions = ApplyOptions(),
      listener: ApplyListener = ApplyListener.none
  ): Task[ApplySummary] = Task.defer {
    options.resume.foreach(resume => refuseSameName(scripts.map(s => resume.name(s.name))))
    val commands = Commands(options.psqlOptions, areApplied = true)
    val isInTransaction = options.singleTransaction ||
      connection.driver.getTransactionState != TransactionState.IDLE
    val settings = FollowedSettings(connection.reading, isInTransaction)
    val sources = scripts.map(script =>
      (
        script.name,
        (sum: Option[Checksum]) =>
          script.groups(
            () => commands,
            () => settings,
            sum,
            aheadBytes(options),
            options.prefetch.groupBytes
          ),
        script.sumOfFirst
      )
    )
    Deliveries(connection, sources, options, commands.variables, settings, listener)
  }

  /** Returns the number of bytes that the reader may be ahead of the server. */
  private def aheadBytes(options: ApplyOptions): Long =
    options.prefetch.mostBytes + options.jobs.fold(0L)(_ => ParallelCopy.aheadBytes)

  private def refuseSameName(names: List[String]): Unit =
    val twice = names.diff(names.distinct).headOption
    require(
      twice.isEmpty,
      s"SqlScripts.applyTo: two scripts have the name ${twice.getOrElse("")} in the journal, so " +
        "the second would be left out as the first. Pass a function to Resume that names each."
    )
