package weir.bench.ce2

import weir.lab.gather.Form

/** Measures tasks that run in order and have nothing to wait for. */
class SequenceReady extends FormScenario(Form.SequenceReady)

/** Measures tasks that run in order, each of which goes through the scheduler once. */
class SequenceForked extends FormScenario(Form.SequenceForked)

/** Measures concurrent tasks that have nothing to wait for. */
class GatherReady extends FormScenario(Form.GatherReady)

/** Measures concurrent tasks, each of which goes through the scheduler once. */
class GatherForked extends FormScenario(Form.GatherForked)

/** Measures concurrent ready tasks whose results are taken as they come. */
class GatherUnorderedReady extends FormScenario(Form.UnorderedReady)

/** Measures concurrent forked tasks whose results are taken as they come. */
class GatherUnorderedForked extends FormScenario(Form.UnorderedForked)
