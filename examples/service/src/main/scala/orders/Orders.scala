package orders

import com.github.plokhotnyuk.jsoniter_scala.core.{JsonValueCodec, readFromString, writeToString}
import com.github.plokhotnyuk.jsoniter_scala.macros.JsonCodecMaker
import java.sql.{Connection, ResultSet}
import javax.sql.DataSource
import scala.util.Using
import weir.postgres.queue.{PgCodec, PgOffer, PgQueue}
import weir.{Stream, Task}

/** An order of a customer, whom the mailer tells of it. */
final case class Order(id: Long, mail: String, item: String, count: Int)

object Order:
  given JsonValueCodec[Order] = JsonCodecMaker.make

/** The orders in the database, and the queue of mails. JDBC may block: there is no pool of threads.
  */
final class Orders(database: DataSource):
  val mails: PgQueue[Mail] = PgQueue(() => database.getConnection, "mails", Mail.codec)

  def create: Task[Unit] = connected { connection =>
    execute(
      connection,
      """CREATE TABLE IF NOT EXISTS orders (
        |  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        |  mail text NOT NULL, item text NOT NULL, count int NOT NULL, mailed boolean DEFAULT false
        |)""".stripMargin
    )
  } >> mails.create

  /** Adds an order and its mail in one transaction: there is never one without the other.
    *
    * @param trace the trace context of the request
    */
  def add(order: NewOrder, trace: Map[String, String]): Task[Order] =
    Task(database.getConnection).bracket { connection =>
      for
        _ <- Task(connection.setAutoCommit(false))
        id <- Task(insert(connection, order))
        _ <- mails.offerWithin(connection)(Vector(PgOffer(Mail(id, trace))))
        _ <- Task(connection.commit())
      yield Order(id, order.mail, order.item, order.count)
    }(connection => Task(connection.close())) // which rolls back what is not committed

  def find(id: Long): Task[Option[Order]] = connected { connection =>
    Using.resource(connection.prepareStatement(s"${Orders.select} WHERE id = ?")) { statement =>
      statement.setLong(1, id)
      val rows = statement.executeQuery()
      Option.when(rows.next())(Orders.read(rows))
    }
  }

  /** Emits all orders, a thousand at a time, so that their number does not matter. */
  def all: Stream[Order] =
    Stream
      .unfoldEval(0L)(after =>
        page(after).map(orders => orders.lastOption.map(last => (orders, last.id)))
      )
      .mapConcat(identity)

  def markMailed(id: Long): Task[Unit] =
    connected(execute(_, s"UPDATE orders SET mailed = true WHERE id = $id"))

  def countMailed: Task[Long] = connected { connection =>
    Using.resource(connection.createStatement()) { statement =>
      val rows = statement.executeQuery("SELECT count(*) FROM orders WHERE mailed")
      rows.next(): Unit
      rows.getLong(1)
    }
  }

  private def page(after: Long): Task[Vector[Order]] = connected { connection =>
    val query = s"${Orders.select} WHERE id > ? ORDER BY id LIMIT 1000"
    Using.resource(connection.prepareStatement(query)) { statement =>
      statement.setLong(1, after)
      val rows = statement.executeQuery()
      Iterator.continually(rows.next()).takeWhile(identity).map(_ => Orders.read(rows)).toVector
    }
  }

  private def insert(connection: Connection, order: NewOrder): Long =
    val sql = "INSERT INTO orders (mail, item, count) VALUES (?, ?, ?) RETURNING id"
    Using.resource(connection.prepareStatement(sql)) { statement =>
      statement.setString(1, order.mail)
      statement.setString(2, order.item)
      statement.setInt(3, order.count)
      val rows = statement.executeQuery()
      rows.next(): Unit
      rows.getLong(1)
    }

  private def execute(connection: Connection, sql: String): Unit =
    Using.resource(connection.createStatement())(_.execute(sql): Unit)

  private def connected[A](use: Connection => A): Task[A] =
    Task(Using.resource(database.getConnection)(use))

object Orders:
  private val select = "SELECT id, mail, item, count FROM orders"

  private def read(rows: ResultSet): Order =
    Order(rows.getLong(1), rows.getString(2), rows.getString(3), rows.getInt(4))

/** An order as a customer sends it. */
final case class NewOrder(mail: String, item: String, count: Int)

object NewOrder:
  given JsonValueCodec[NewOrder] = JsonCodecMaker.make

/** The job of telling a customer of an order. A job of `PgQueue` has no headers, so the trace
  * context of the request is in its payload.
  */
final case class Mail(order: Long, trace: Map[String, String])

object Mail:
  given JsonValueCodec[Mail] = JsonCodecMaker.make
  val codec: PgCodec[Mail] = PgCodec.text.imap(readFromString[Mail](_))(writeToString(_))
