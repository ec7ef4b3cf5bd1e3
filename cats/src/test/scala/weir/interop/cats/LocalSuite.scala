package weir.interop.cats

import _root_.cats.Monad
import _root_.cats.effect.kernel.Async
import _root_.cats.effect.syntax.all.*
import _root_.cats.mtl.Local
import _root_.cats.syntax.all.*
import weir.{Task, TaskLocal}

/** `asLocal` has the laws of cats-mtl's `Ask` and `Local`, and what a program for any effect
  * expects of it.
  */
class LocalSuite extends munit.FunSuite:

  /** Each program, with the value of the local, before and after. */
  private def same[A](left: Local[Task, Int] => Task[A], right: Local[Task, Int] => Task[A]): Unit =
    for start <- List(0, 7) do
      def run(program: Local[Task, Int] => Task[A]) =
        val local = TaskLocal.unsafe(start)
        program(local.asLocal).attempt.both(local.get).both(Task.unit).runSync()._1
      assertEquals(run(left), run(right))

  private val boom = RuntimeException("boom")
  private val programs: List[Local[Task, Int] => Task[Int]] = List(
    _.ask,
    _ => Task.pure(3),
    _ => Task.fail(boom),
    local => local.local(local.ask)(_ + 1),
    local => Task.cede.andThen(local.ask),
    local => local.scope(Task.fail(boom): Task[Int])(5),
    local => local.local(local.ask.both(local.ask).map(_ + _))(_ * 2)
  )
  private val changes: List[Int => Int] = List(identity, _ + 1, _ * 3, _ => 9)

  for (program, at) <- programs.zipWithIndex do
    test(s"the laws of Ask and Local, with the program $at"):
      same(local => local.ask.productR(program(local)), program)
      same(local => program(local).productL(local.ask), program)
      same(local => local.local(program(local))(identity), program)
      for f <- changes do
        same(local => local.local(local.ask)(f), local => local.ask.map(f))
        same(local => local.local(Task.pure(1))(f), _ => Task.pure(1))
        same(
          local => local.scope(program(local))(f(1)),
          local => local.local(program(local))(_ => f(1))
        )
        for g <- changes do
          same(
            local => local.local(local.local(program(local))(g))(f),
            local => local.local(program(local))(f.andThen(g))
          )

  test("a function that throws is the error, and the value stays"):
    same[Int](local => local.local(local.ask)(_ => throw boom), _ => Task.fail(boom))

  test("a program for any effect sees the value of its scope, in fibers that it starts too"):
    def program[F[_]: Async](using local: Local[F, Int]): F[(Int, Int, Int)] =
      for
        inside <- local.scope(local.ask[Int].start.flatMap(_.joinWithNever))(5)
        both <- local.local(Monad[F].unit.productR(local.ask[Int]))(_ + 1)
        after <- local.ask[Int]
      yield (inside, both, after)
    val task = TaskLocal.of(1).flatMap { variable =>
      given Local[Task, Int] = variable.asLocal
      program[Task]
    }
    assertEquals(task.runSync(), (5, 2, 1))

  test("a cancel in a scope leaves the value of the fiber"):
    val variable = TaskLocal.unsafe(1)
    val task = Task
      .race(variable.asLocal.scope(Task.never: Task[Int])(2), Task.cede)
      .andThen(variable.get)
    assertEquals(task.runSync(), 1)
