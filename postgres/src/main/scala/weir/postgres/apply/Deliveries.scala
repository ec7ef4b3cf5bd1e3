package weir.postgres.apply

import weir.{Resource, Stream, Task}
import weir.postgres.*
import weir.postgres.input.Checksum
import weir.postgres.jobs.{Jobs, OneConnection, ParallelCopy}
import weir.postgres.protocol.{Lane, SessionWatch}
import weir.postgres.psql.Variables
import weir.postgres.split.FollowedSettings
import weir.std.Hotswap

/** Applies scripts with the `Delivery` that the options ask for. */
private[postgres] object Deliveries:
  /** @param variables
    *   those of the reader of the scripts, which waits where a statement sets some
    * @param settings
    *   those that the reader follows
    * @param scripts
    *   for each script its name; its pieces, in groups, whose bytes are added to the checksum; and
    *   the SHA-256 of its first n bytes, if it can be read twice
    */
  def apply(
      connection: ScriptConnection,
      scripts: List[
        (String, Option[Checksum] => Stream[Vector[Piece]], Long => Option[Array[Byte]])
      ],
      options: ApplyOptions,
      variables: Variables,
      settings: FollowedSettings,
      listener: ApplyListener
  ): Task[ApplySummary] = Task.defer {
    val sums = scripts.map(_ => options.resume.map(_ => Checksum()))
    val streams = scripts.zip(sums).map { case ((name, pieces, _), sum) => (name, pieces(sum)) }
    def run(delivery: Session => Delivery) =
      applying(connection, streams, options, listener, delivery, variables, settings)
    if options.resume.isEmpty && options.jobs.isEmpty then run(PlainDelivery(_))
    else
      jobs(options).use(jobs =>
        def withJobs(summary: ApplySummary) =
          summary.copy(parallelCopies = jobs.parallel, singleCopies = jobs.single)
        run(session =>
          delivery(
            Lane(connection, session),
            jobs,
            options,
            sums.flatten.zip(scripts.map(_._3))
          )
        )
          .map(withJobs)
          .adaptError { case error: ScriptException =>
            error.summary.fold(error)(summary => error.after(withJobs(summary)))
          }
      )
  }

  /** Applies scripts with the `Delivery` that `delivery` makes for their session. */
  def applying(
      connection: ScriptConnection,
      scripts: List[(String, Stream[Vector[Piece]])],
      options: ApplyOptions,
      listener: ApplyListener,
      delivery: Session => Delivery,
      variables: Variables = Variables(),
      settings: FollowedSettings = FollowedSettings()
  ): Task[ApplySummary] = Hotswap
    .empty[ScriptConnection]
    .use: opened =>
      var applying: Applying | Null = null
      val session = Session(
        connection,
        notice =>
          if applying ne null then
            val running = applying.nn.running
            listener.noticed(running.scriptName, running.position, running.hiding(notice))
      )
      val connections = Reconnecting(connection, session, opened, variables, settings)
      val made = Applying(session, delivery(session), options, variables, listener, connections)
      applying = made
      made.run(scripts)

  private def jobs(options: ApplyOptions): Resource[Jobs] = options.jobs match
    case None => Jobs.resource(1, Resource.eval(Task.fail(IllegalStateException("one connection"))))
    case Some(jobs) =>
      Jobs.resource(
        jobs.count,
        jobs.open.map(more => Lane(more, Session(more, _ => ()))).evalTap(quiet)
      )

  /** As `Applying` does for the script's own session. */
  private def quiet(lane: Lane): Task[Unit] = lane.run("SET client_min_messages = warning")

  private def delivery(
      lane: Lane,
      jobs: Jobs,
      options: ApplyOptions,
      sums: List[(Checksum, Long => Option[Array[Byte]])]
  ): Delivery =
    val watch = SessionWatch(lane)
    val chunkBytes = options.jobs.fold(ParallelCopy.chunkBytes)(_.chunkBytes)
    val copies = ParallelCopy(lane, watch, jobs, chunkBytes)
    options.resume match
      case None => JobsDelivery(lane, watch, copies)
      case Some(resume) =>
        val target = if options.jobs.isEmpty then OneConnection(lane) else copies
        JournalDelivery(lane, watch, target, chunkBytes, resume, sums.iterator)
