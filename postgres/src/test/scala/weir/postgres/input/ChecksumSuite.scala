package weir.postgres.input

import java.security.MessageDigest
import weir.WeirSuite

class ChecksumSuite extends WeirSuite:
  private def sha(bytes: Array[Byte]) = MessageDigest.getInstance("SHA-256").digest(bytes).toSeq

  test(
    "the sum up to the end of each piece is that of the bytes before it, however they were read"
  ):
    val bytes = Array.tabulate[Byte](1000)(_.toByte)
    val ends = List(1, 63, 64, 500, 999, 1000)
    for block <- Seq(1, 7, 64, 1000) do
      val sum = Checksum()
      for (from, until) <- (0 :: ends).zip(ends) do
        for at <- from until until by block do sum.append(bytes, at, math.min(block, until - at))
        sum.mark()
        sum.mark()
      for at <- 0 :: ends.flatMap(end => List(end, end)) do
        assertEquals(sum.at(at).toSeq, sha(bytes.take(at)), s"$block $at")

  test(
    "a sum of what was not read, at no end of a piece, or before what was asked for, is refused"
  ):
    val sum = Checksum()
    sum.append("abc".getBytes, 1, 1)
    sum.append("abc".getBytes, 2, 1)
    assert(intercept[IllegalStateException](sum.at(1)).getMessage.contains("up to 1"))
    sum.mark()
    assert(intercept[IllegalStateException](sum.at(1)).getMessage.contains("up to 1"))
    assertEquals(sum.at(2).toSeq, sha("bc".getBytes))
    assert(intercept[IllegalStateException](sum.at(3)).getMessage.contains("up to 3"))
    assert(intercept[IllegalArgumentException](sum.at(1)).getMessage.contains("in order"))
