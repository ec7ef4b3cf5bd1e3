package weir.json

import com.github.plokhotnyuk.jsoniter_scala.core.JsonValueCodec
import com.github.plokhotnyuk.jsoniter_scala.macros.JsonCodecMaker
import java.io.IOException
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll
import weir.*

class JsonLinesSuite extends munit.ScalaCheckSuite, WeirSuite:

  private final case class User(id: Int, name: String, tags: List[String])
  private given JsonValueCodec[User] = JsonCodecMaker.make

  private def cut(bytes: Array[Byte], size: Int): Stream[Array[Byte]] =
    Stream.emits(bytes.grouped(size).toList)

  private val text = Gen.stringOf(Gen.oneOf('a', 'é', '"', '\\', '\n', '\u2028', '{'))
  private val users = Gen.listOf(
    for
      id <- Gen.choose(Int.MinValue, Int.MaxValue)
      name <- text
      tags <- Gen.listOf(text)
    yield User(id, name, tags)
  )

  property("what is written is read again, cut anywhere, a line for each value") {
    forAll(users, Gen.choose(1, 9)) { (users, size) =>
      val bytes = Stream.emits(users).through(JsonLines.encode).toList.runSync()
      assert(bytes.forall(line => line.count(_ == '\n') == 1 && line.last == '\n'))
      val read = cut(bytes.flatten.toArray, size).through(JsonLines.decode[User]())
      assertEquals(read.toList.runSync(), users)
    }
  }

  test("blank lines, ends of lines of all kinds, a mark, no end of the last line"):
    val json = """{"id":1,"name":"a"}"""
    val text = s"\uFEFF$json\n\r\n  \n$json\r\n$json"
    val read = cut(text.getBytes("UTF-8"), 3).through(JsonLines.decode[User]()).toList.runSync()
    assertEquals(read, List.fill(3)(User(1, "a", Nil)))

  test("what is no value of the type fails in its place, and names the line"):
    for (bad, problem) <- List(
        "{\"id\":1}" -> "missing required field",
        "{\"id\":1,\"name\":" -> "unexpected end of input",
        "[]" -> "expected '{'"
      )
    do
      val text = s"{\"id\":1,\"name\":\"a\"}\n\n$bad\n{\"id\":2,\"name\":\"b\"}\n"
      val seen = List.newBuilder[Int]
      val stream = cut(text.getBytes("UTF-8"), 5).through(JsonLines.decode[User]())
      val error = stream.evalTap(u => Task(seen += u.id)).drain.attempt.runSync().left.toOption.get
      assertEquals(seen.result(), List(1))
      assert(error.isInstanceOf[IOException], error)
      val message = error.getMessage.nn
      assert(message.startsWith("JsonLines: line 3: ") && message.contains(problem), message)
      assert(!message.contains('\n') && !message.contains("buf"), message)

  test("a line that is too long fails"):
    val long = cut(("[" + "1," * 1000).getBytes("UTF-8"), 100)
    assert(long.through(JsonLines.decode[User](100)).drain.attempt.runSync().isLeft)

  test("an error of the bytes comes as it is, after the values before it"):
    val boom = Boom()
    val bytes = Stream("{\"id\":1,\"name\":\"a\"}\n{".getBytes) ++ Stream.fail(boom)
    val seen = List.newBuilder[Int]
    val result =
      bytes
        .through(JsonLines.decode[User]())
        .evalTap(u => Task(seen += u.id))
        .drain
        .attempt
        .runSync()
    assertEquals((result, seen.result()), (Left(boom), List(1)))

  test("not consumed to the end, and cancelled while it waits: the bytes are closed once"):
    val closed = AtomicInteger()
    val bytes = (Stream("{\"id\":1,\"name\":\"a\"}\n".getBytes) ++ Stream.never)
      .onFinalize(Task(closed.incrementAndGet()).void)
    assertEquals(bytes.through(JsonLines.decode[User]()).take(1).count.runSync(), 1L)
    assertEquals(closed.get, 1)
    val reached = CountDownLatch(1)
    val reads = bytes.through(JsonLines.decode[User]()).evalTap(_ => Task(reached.countDown()))
    val fiber = reads.drain.start.runSync()
    await(reached)
    fiber.cancel.runSync()
    assertEquals(closed.get, 2)
