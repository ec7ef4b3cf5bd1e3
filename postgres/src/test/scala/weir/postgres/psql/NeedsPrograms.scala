package weir.postgres.psql

import scala.concurrent.Future

/** A suite whose tests are skipped, and say so, where Postgres's own programs are not installed. */
trait NeedsPrograms extends munit.FunSuite:
  /** The programs that are missing. */
  protected def missing: Option[String]

  override def munitTestTransforms: List[TestTransform] =
    super.munitTestTransforms :+ TestTransform(
      "needs programs",
      test =>
        missing.fold(test)(what =>
          test.withBody(() => Future(assume(false, what))(using munitExecutionContext))
        )
    )
