package weir.kafka.consumer

import munit.FunSuite

class PieceSizeSuite extends FunSuite:
  private val parallelism = 8

  /** Returns the size, and the time of its tasks, once both stay as they are. */
  private def settled(taskMillis: Double, transactionMillis: Long): (Int, Double) =
    val size = PieceSize(parallelism)
    def millis = size.records * taskMillis / parallelism
    for _ <- 1 to 40 do
      size.took(size.records, (millis * 1_000_000).toLong, transactionMillis * 1_000_000)
    (size.records, millis)

  test("a piece takes half a second at most"):
    for task <- List(1.0, 7.0, 60.0); transaction <- List(5L, 50L, 150L, 300L) do
      val (_, millis) = settled(task, transaction)
      assert(millis + transaction <= 500, s"$task: $millis, $transaction")
      assert(2 * millis + transaction > 500, s"$task: $millis, $transaction")

  test("a slow transaction has more records than run at a time"):
    // 8 tasks at a time, of 1 ms. By the time of both together, each transaction would have 8.
    assertEquals(settled(1, 150)._1, 2048)
    assertEquals(settled(1, 600)._1, 512)

  test("a long task has a piece of its own size"):
    assertEquals(settled(2000, 5)._1, parallelism)

  test("a piece that the end of a batch has cut short does not make the next one longer"):
    val size = PieceSize(parallelism)
    size.took(parallelism - 1, 1000, 1000)
    assertEquals(size.records, parallelism)
    size.took(parallelism, 1000, 1000)
    assertEquals(size.records, 2 * parallelism)
