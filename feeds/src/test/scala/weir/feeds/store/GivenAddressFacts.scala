package weir.feeds.store

import munit.FunSuite

import weir.feeds.input.{FeedUrl, Login, NewFeed}

/** The facts about addresses and logins, for every database. */
trait GivenAddressFacts:
  self: FunSuite =>

  def withDatabase(body: Database => Unit): Unit
  def withVersion3(body: Database => Unit): Unit

  private def url(text: String) = FeedUrl.parse(text).fold(fail(_), identity)

  private def withStore(body: FeedStore => Unit): Unit = withDatabase: database =>
    val store = FeedStore.open(database)
    try body(store)
    finally store.close()

  private def add(store: FeedStore, urls: String*): Unit =
    store.add(urls.flatMap(NewFeed.typed(_).toOption)): Unit

  private def feeds(store: FeedStore): Vector[DueFeed] =
    Vector(0, 1)
      .flatMap: half =>
        val cursor = store.cursor(DueQuery(Long.MaxValue / 2, 0), half, 100)
        try cursor.nextPage()
        finally cursor.close()
      .sortBy(_.id)

  private def logins(store: FeedStore): Vector[Option[Login]] = feeds(store).map(_.login)

  private def move(store: FeedStore, feed: DueFeed, to: String, isTrusted: Boolean): Unit =
    val check = Check(feed, 1, 1, "fetched", None, 0, 0, false, Some(url(to)), None, None)
    store.record(check.copy(trusted = Set(url(to)).filter(_ => isTrusted))): Unit

  test("a login is kept apart from its address, and the next one that is given replaces it"):
    withStore: store =>
      add(store, "http://me:one@a.example/", "http://b.example/")
      assertEquals(feeds(store).map(_.url.text), Vector("http://a.example/", "http://b.example/"))
      assertEquals(logins(store), Vector(Some(Login("me", "one")), None))
      add(store, "http://me:two@a.example/", "http://you@b.example/")
      assertEquals(logins(store), Vector(Some(Login("me", "two")), Some(Login("you", ""))))
      add(store, "http://a.example/")
      assertEquals(logins(store).head, Some(Login("me", "two")))

  test("a login goes with its feed to another address of its host, and to no other host"):
    withStore: store =>
      add(store, "http://me:one@a.example/")
      move(store, feeds(store).head, "https://a.example/new", isTrusted = true)
      assertEquals(logins(store), Vector(Some(Login("me", "one"))))
      add(store, "http://me:two@a.example/")
      assertEquals(logins(store), Vector(Some(Login("me", "two"))))
      move(store, feeds(store).head, "https://b.example/", isTrusted = false)
      assertEquals(logins(store), Vector(None))
      add(store, "http://me:three@a.example/")
      assertEquals(logins(store), Vector(None))

  test("a feed that becomes part of another gives it its login, if that is at its host"):
    withStore: store =>
      add(store, "http://me:one@a.example/1", "http://a.example/2", "http://b.example/")
      move(store, feeds(store)(0), "http://a.example/2", isTrusted = true)
      assertEquals(logins(store), Vector(Some(Login("me", "one")), None))
      move(store, feeds(store)(0), "http://b.example/", isTrusted = true)
      assertEquals(logins(store), Vector(None))

  test("an address that a server names is not given, until the user gives it"):
    withStore: store =>
      add(store, "http://a.example/")
      assertEquals(feeds(store).map(_.isGiven), Vector(true))
      move(store, feeds(store).head, "http://b.example/", isTrusted = false)
      assertEquals(feeds(store).map(_.isGiven), Vector(false))
      add(store, "http://a.example/")
      assertEquals(feeds(store).map(_.isGiven), Vector(false))
      add(store, "http://b.example/")
      assertEquals(feeds(store).map(_.isGiven), Vector(true))
      move(store, feeds(store).head, "http://10.0.0.1/", isTrusted = true)
      assertEquals(feeds(store).map(_.isGiven), Vector(true))

  test("of an older database the addresses count as given that no other host has led to"):
    withVersion3: database =>
      val connection = database.connect()
      try
        val feeds = List("http://a.example/x", "http://b.example/x")
        for (address, at) <- feeds.zipWithIndex do
          Sql.update(connection, "UPDATE feed SET url = ? WHERE id = ?")(address, at + 1): Unit
          Sql.update(connection, "INSERT INTO former_url (url, feed_id) VALUES (?, ?)")(
            s"http://a.example/old$at",
            at + 1
          ): Unit
      finally connection.close()
      val store = FeedStore.open(database)
      try assertEquals(feeds(store).map(_.isGiven), Vector(true, false))
      finally store.close()
