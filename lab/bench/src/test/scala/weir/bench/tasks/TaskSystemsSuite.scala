package weir.bench.tasks

import weir.lab.gather.{Form, TaskSystem}
import weir.program.Systems

/** Each system has the forms that it is said to have, and returns a result for each task. */
class TaskSystemsSuite extends munit.FunSuite:
  test("every system of a form is here, or needs Cats Effect 2"):
    val named = Form.values.flatMap(_.systems).toSet
    assertEquals(TaskSystems.all.map(_.name).toSet, named -- Systems.onCatsEffect2)

  for system <- TaskSystems.all; form <- Form.values do
    test(s"${system.name} has ${form.label}, or is not said to have it"):
      assertEquals(system.run(form, 1).isDefined, form.systems.contains(system.name))

  for
    system <- TaskSystems.all
    form <- Form.values
    if form.systems.contains(system.name)
    size <- List(0, 1, 10, 2000)
  do
    test(s"${system.name}, ${form.label}: $size tasks that return 1 add up to $size, twice"):
      val run = system.run(form, size).get
      assertEquals(TaskSystem.total(run()), size.toLong)
      assertEquals(TaskSystem.total(run()), size.toLong)
