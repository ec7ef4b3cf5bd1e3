package examples

import java.net.URI
import java.nio.file.Path
import java.sql.{Connection, DriverManager}
import scala.util.Try
import weir.{Resource, Task}

/** The names that the examples of scaladoc comments use: a little shop, some feeds, some files. */
object Prelude:
  final case class User(name: String)
  final case class Order(cents: Int)
  final case class Page(user: User, orders: List[Order], visits: Int)
  final case class Token(isValid: Boolean)
  final case class UserNotFound(id: Int, cause: Throwable) extends Exception(s"user $id", cause)
  final case class Config(address: String)
  final case class Client(send: String => Task[String])

  enum Answer:
    case Saved(values: List[Int])
    case Refused(messages: List[String])
  export Answer.*

  val id = 1
  val ids: List[Int] = List(1, 2, 3)
  val name: Option[String] = None
  val config: Config = Config("localhost")
  val urls: List[URI] = List(URI("http://localhost/feed.xml"))
  val path: Path = Path.of("a.txt")
  val files: List[Path] = List(path)
  val fields: List[String] = List("1", "x")
  val requests: List[String] = List("a", "b")
  val servers: List[String] = List("a.example", "b.example")
  val dryRun = false

  /** Blocks. */
  def fetch(url: URI): String = url.toString
  def readLine(): String = ""
  def log(line: String): Unit = println(line)
  def request(answer: Either[Throwable, String] => Unit): Unit = answer(Right("answer"))
  def parse(text: String): Try[Int] = Try(text.toInt)
  def load(id: Int): Task[User] = Task.pure(User(s"$id"))
  def ordersOf(id: Int): Task[List[Order]] = Task.pure(Nil)
  def visitsOf(id: Int): Task[Int] = Task.pure(id)
  def total(connection: Connection, id: Int): Int = connection.hashCode + id
  def check(field: String): Task[Int] = Task(field.toInt)
  def store(text: String): Task[Unit] = Task(log(text))
  def send(request: String, token: Token): Task[String] = Task.pure(request)
  def ask(server: String): Task[String] = Task.pure(server)
  def clientOf(config: Config): Resource[Client] = Resource.pure(Client(Task.pure))
  def serve(handle: String => Task[String]): Task[Unit] = handle("").void

  val fromFile: Task[Config] = Task.pure(config)
  val fromNetwork: Task[Config] = Task.pure(config)
  val configChanged: Task[Config] = Task.pure(config)
  val login: Task[Token] = Task.pure(Token(isValid = true))
  val connection: Resource[Connection] =
    Resource.fromAutoCloseable(Task(DriverManager.getConnection("jdbc:sqlite::memory:")))
