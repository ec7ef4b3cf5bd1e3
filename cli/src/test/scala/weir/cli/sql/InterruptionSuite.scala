package weir.cli.sql

import java.nio.file.{Files, Path}

import munit.FunSuite

import weir.cli.sql.run.ScriptCounts
import weir.postgres.{Prefetch, PsqlOptions}

class InterruptionSuite extends FunSuite:
  private val file =
    val file = Files.createTempFile("weir-interruption", ".sql")
    file.toFile.deleteOnExit()
    file

  private def settings(path: Path, isSingleTransaction: Boolean = false) = SqlSettings(
    inputs = Vector(SqlSettings.Input.File(path)),
    db = None,
    isSingleTransaction = isSingleTransaction,
    stopsOnError = true,
    psql = PsqlOptions(),
    isDryRun = false,
    isResuming = false,
    resumeAt = None,
    jobs = 1,
    pipelines = false,
    prefetch = Prefetch.Off,
    maxStatementBytes = 1000,
    slowest = None,
    isKeeping = false,
    isQuiet = false,
    showsStages = false,
    json = None
  )

  private val counts = ScriptCounts.Snapshot(None, 0, 0, 2, 0, 3, 0, 0)
  private val told = "2 statements, 3 rows executed in d at h:1"

  test("of a single transaction nothing is there, unless the server was lost while it committed"):
    val single = settings(file, isSingleTransaction = true)
    assertEquals(
      Interruption.lines(single, counts, Some("d at h:1")),
      Vector(s"$told, and rolled back: nothing has changed.")
    )
    assertEquals(
      Interruption.lines(single, counts, Some("d at h:1"), isUncertain = true),
      Vector(s"$told; it is not known if they are committed.")
    )

  test("a journal is advised where something was applied of a file that can be read again"):
    def isAdvised(settings: SqlSettings, counts: ScriptCounts.Snapshot) =
      Interruption.lines(settings, counts, None).exists(_.contains("--resume"))
    assert(isAdvised(settings(file), counts))
    assert(!isAdvised(settings(file), counts.copy(statements = 0)))
    assert(!isAdvised(settings(Path.of("/dev/null")), counts))
    assert(!isAdvised(settings(file).copy(stopsOnError = false), counts))
