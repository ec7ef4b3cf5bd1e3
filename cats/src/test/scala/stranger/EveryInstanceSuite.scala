package stranger

import cats.data.{Ior, NonEmptyList}
import cats.effect.kernel.{Async, Clock, Concurrent, MonadCancelThrow, Sync, Temporal, Unique}
import cats.effect.std.{Console, Env, Random, SecureRandom, SystemProperties, UUIDGen}
import cats.syntax.all.*
import cats.{Align, Monoid, NonEmptyParallel, Parallel, Semigroup, SemigroupK, Show}
import java.io.{ByteArrayOutputStream, PrintStream}
import weir.Task
import weir.interop.cats.given

/** With this one import, a file has for `Task` each instance that the companion of `IO` has. A
  * program uses each.
  */
class EveryInstanceSuite extends munit.FunSuite:
  private val boom = RuntimeException("boom")
  private val failed: Task[Int] = Task.fail(boom)

  test("each type class is found, and by one instance only"):
    val found = List[Any](
      summon[Async[Task]],
      summon[Sync[Task]],
      summon[Temporal[Task]],
      summon[Concurrent[Task]],
      summon[MonadCancelThrow[Task]],
      summon[Clock[Task]],
      summon[Unique[Task]],
      summon[Parallel[Task]],
      summon[NonEmptyParallel[Task]],
      summon[Semigroup[Task[Int]]],
      summon[Monoid[Task[Int]]],
      summon[Show[Task[Int]]],
      summon[SemigroupK[Task]],
      summon[Align[Task]],
      summon[Console[Task]],
      summon[Env[Task]],
      summon[SystemProperties[Task]],
      summon[Random[Task]],
      summon[SecureRandom[Task]],
      summon[UUIDGen[Task]]
    )
    assert(!found.contains(null))

  test("<+> takes the second task where the first one fails"):
    assertEquals((failed <+> Task(2)).runSync(), 2)
    assertEquals((Task(1) <+> Task(throw AssertionError("not run"))).runSync(), 1)
    assertEquals(NonEmptyList.of(failed, failed, Task(3)).reduceK.runSync(), 3)

  test("align keeps what succeeds, and fails with the first error"):
    assertEquals(Task(1).align(Task("a")).runSync(), Ior.Both(1, "a"))
    assertEquals(Task(1).align(failed).runSync(), Ior.Left(1))
    assertEquals(failed.align(Task("a")).runSync(), Ior.Right("a"))
    assertEquals(failed.align(Task.fail(Exception("later"))).attempt.runSync(), Left(boom))

  test("Console writes to the standard output"):
    def program[F[_]: Console]: F[Unit] = Console[F].println("hello")
    val bytes = ByteArrayOutputStream()
    val before = System.out
    System.setOut(PrintStream(bytes, true))
    try program[Task].runSync()
    finally System.setOut(before)
    assertEquals(bytes.toString.trim, "hello")

  test("Env has the variables of the process"):
    def program[F[_]: Env]: F[Option[String]] = Env[F].get("PATH")
    assertEquals(program[Task].runSync(), Option(System.getenv("PATH")))

  test("SystemProperties are those of the JVM"):
    def program[F[_]: SystemProperties: MonadCancelThrow]: F[Option[String]] =
      SystemProperties[F].set("weir.every", "a") >> SystemProperties[F].get("weir.every")
    assertEquals(program[Task].runSync(), Some("a"))

  test("Random and SecureRandom"):
    def any[F[_]: Random]: F[Int] = Random[F].betweenInt(0, 10)
    def secure[F[_]: SecureRandom]: F[Array[Byte]] = SecureRandom[F].nextBytes(16)
    assert((0 until 10).contains(any[Task].runSync()))
    assertEquals(secure[Task].runSync().length, 16)

  test("UUIDGen and Unique make values that differ"):
    def program[F[_]: UUIDGen: Unique: MonadCancelThrow]: F[Boolean] =
      for
        a <- UUIDGen[F].randomUUID
        b <- UUIDGen[F].randomUUID
        c <- Unique[F].unique
        d <- Unique[F].unique
      yield a != b && c != d
    assert(program[Task].runSync())
