package weir.typelevel

import cats.effect.IO
import cats.effect.kernel.Async
import cats.effect.std.Console
import cats.effect.unsafe.IORuntime
import _root_.fs2.io.net.Network
import weir.Task
import weir.interop.cats.given
import weir.interop.fs2.given

/** An effect that a program for any effect runs on.
  *
  * @param lateSockets
  *   how many sockets that are closed it may still hold at any time
  */
final class Backend[F[_]](val name: String, val lateSockets: Int)(val run: [A] => F[A] => A)(using
    val async: Async[F],
    val network: Network[F]
):
  given Console[F] = Console.make

object Backend:
  val task: Backend[Task] = Backend("Task", 0)([A] => (task: Task[A]) => task.runSync())

  /** The control: what fails on both is no fault of ours. Each of its workers polls a selector,
    * which lets go of a channel that was closed only when it is polled again.
    */
  val io: Backend[IO] =
    Backend(
      "IO",
      Runtime.getRuntime.availableProcessors
    )([A] => (io: IO[A]) => io.unsafeRunSync()(using IORuntime.global))

  /** True in the long tier: the control runs too. If a test fails on `Task` in the short one, run
    * it with `-Dweir.long=true` to know whose fault it is.
    */
  val hasControl: Boolean = java.lang.Boolean.getBoolean("weir.long")
