package weir.bench.ce2

import weir.lab.gather.{Form, TaskSystem}

/** Each system has the forms that it is said to have, and returns a result for each task. */
class TaskSystemsSuite extends munit.FunSuite:
  for system <- Main.systems; form <- Form.values do
    test(s"${system.name} has ${form.label}, or is not said to have it"):
      assertEquals(system.run(form, 1).isDefined, form.systems.contains(system.name))

  for
    system <- Main.systems
    form <- Form.values
    if form.systems.contains(system.name)
    size <- List(0, 1, 10, 2000)
  do
    test(s"${system.name}, ${form.label}: $size tasks that return 1 add up to $size, twice"):
      val run = system.run(form, size).get
      assertEquals(TaskSystem.total(run()), size.toLong)
      assertEquals(TaskSystem.total(run()), size.toLong)
