package weir.lab.compare

class CourseSuite extends munit.FunSuite:

  private def course(tasks: Int, tasksPerLetter: Int): Course =
    Course(Plan(Vector(0L), Vector.fill(tasks)(0L), parallelism = 2, capacity = 1), tasksPerLetter)

  test("a letter means so many tasks, in the order in which they came"):
    val course = this.course(tasks = 6, tasksPerLetter = 2)
    course.produce(3)
    course.consume(0)
    course.consume(1)
    course.produce(3)
    (2 until 6).foreach(course.consume)
    assertEquals(course.letters, "PCPPCC")

  test("places are given in order"):
    val course = this.course(tasks = 3, tasksPerLetter = 1)
    assertEquals(Seq.fill(3)(course.begin()), Seq(0, 1, 2))

  test("each task consumed once is no mistake"):
    val course = this.course(tasks = 2, tasksPerLetter = 1)
    course.produce(2)
    course.consume(1)
    course.consume(0)
    assertEquals(course.mistake, None)

  test("a task that was not consumed is a mistake"):
    val course = this.course(tasks = 2, tasksPerLetter = 1)
    course.consume(0)
    assertEquals(course.mistake, Some("task 1 was consumed 0 times"))

  test("a task that was consumed twice is a mistake"):
    val course = this.course(tasks = 2, tasksPerLetter = 1)
    Seq(0, 1, 1).foreach(course.consume)
    assertEquals(course.mistake, Some("task 1 was consumed 2 times"))

  test("more tasks at a time than the plan allows are a mistake"):
    val course = this.course(tasks = 3, tasksPerLetter = 1)
    Seq.fill(3)(course.begin()).foreach(course.consume)
    assertEquals(course.mistake, Some("3 tasks were consumed at a time, and the limit is 2"))

  test("as many at a time as the plan allows are none"):
    val course = this.course(tasks = 3, tasksPerLetter = 1)
    course.consume(course.begin().max(course.begin()))
    course.consume(course.begin())
    course.consume(0)
    assertEquals(course.mistake, None)
