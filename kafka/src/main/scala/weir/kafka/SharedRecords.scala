package weir.kafka

import weir.{Semaphore, Stream, Task}

extension [K, V](records: Stream[SharedRecord[K, V]])

  /** Runs the task that `f` returns for each record of a share group, at most `parallelism` at a
    * time, and emits its value. A record is accepted once its task has succeeded.
    *
    * A record whose task fails is tried again as `attempts` says. Meanwhile it stays locked for
    * this member, and does not count towards the parallelism. After the last attempt it is written
    * to the dead letters and accepted, and the stream has no value for it. A record that cannot be
    * decoded goes there at once.
    *
    * **Fails** with the last error of a record if there are no dead letters. That record is
    * released, and so are the records whose tasks are cancelled by the failure: they are delivered
    * again, which counts as one more delivery. **Order**: that in which the tasks end.
    *
    * {{{
    * consumer.records(Set("mails"), "senders").parEvalMapAccepted(64)(mail => send(mail.value))
    * }}}
    */
  def parEvalMapAccepted[B](
      parallelism: Int,
      attempts: Attempts[DeadLetters] = Attempts.once
  )(f: SharedRecord[K, V] => Task[B]): Stream[B] =
    require(
      parallelism >= 1,
      s"Stream.parEvalMapAccepted: the parallelism was $parallelism. It must be at least 1."
    )
    Stream.suspend {
      val permits = Semaphore.unsafe(parallelism)
      // Beside those that run: records that wait for a permit, or for the end of their back-off.
      val running = (parallelism + 4096L).min(Int.MaxValue).toInt
      records
        .parEvalMapUnordered(running)(SharedRecords.settled(permits, attempts, f))
        .unNone
    }

private object SharedRecords:
  def settled[K, V, B](
      permits: Semaphore,
      attempts: Attempts[DeadLetters],
      f: SharedRecord[K, V] => Task[B]
  )(record: SharedRecord[K, V]): Task[Option[B]] = Task.defer {
    var tried = 0
    def once = permits.withPermit(Task.defer {
      tried += 1
      f(record)
    })
    val value = record.undecodable match
      case Some(failure) => Task.fail(failure)
      case None => once.retry(attempts.schedule)
    value
      .flatTap(_ => record.accept)
      .map(Some(_))
      .handleErrorWith { error =>
        attempts.deadLetters match
          case Some(letters) =>
            letters.send(record.bytes, error, tried).andThen(record.accept).as(None)
          case None => record.release.andThen(Task.fail(error))
      }
  }
