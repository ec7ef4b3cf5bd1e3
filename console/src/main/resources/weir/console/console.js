"use strict"
const pages = ["fibers", "streams", "runtime", "queues"]
const byId = id => document.getElementById(id)
const main = byId("page")
let page = pages.includes(location.hash.slice(1)) ? location.hash.slice(1) : "fibers"
let sample = null, series = [], moments = [], fibers = null, mayChange = false
const open = new Map() // groups that are shown with their fibers, by id
const trees = new Map() // the fibers that a fiber waits for, by its name; "" has the first ones
const dead = new Map() // dead jobs that are shown, by their queue
let queues = [], deadAnswer = ""

// ---- elements ----

function h(tag, attributes, ...children) {
  const isSvg = ["svg", "path", "rect", "title"].includes(tag)
  const element = isSvg
    ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag)
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value)
    else if (value !== null && value !== false) element.setAttribute(name, value)
  }
  element.append(...children.flat(3).filter(child => child !== null && child !== undefined))
  return element
}

// Replaces what is shown, and keeps the focus where it was.
function show(parent, ...children) {
  const selection = getSelection()
  if (!selection.isCollapsed && parent.contains(selection.anchorNode)) return
  const focused = document.activeElement
  const key = parent.contains(focused) ? focused.dataset.key : null
  parent.replaceChildren(...children.flat(3).filter(child => child !== null))
  if (key) parent.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true })
}

const count = n => Math.round(n).toLocaleString("en")
const rounded = n => n >= 100 || Number.isInteger(n) ? count(n) : n.toFixed(n >= 10 ? 1 : 2)
const percent = share => `${Math.round(share * 100)} %`

function age(seconds) {
  if (seconds < 0) return ""
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  return `${Math.round(seconds / 3600)} h`
}

// ---- charts ----

function pathOf(values, times, width, height, max) {
  const begin = times[times.length - 1] - width
  return values.map((value, i) => {
    const x = times[i] - begin
    const y = height - 1 - (value / max) * (height - 3)
    return `${i === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`
  }).join("")
}

function spark(values) {
  const max = Math.max(1, ...values)
  return h("svg", { class: "spark", viewBox: "0 0 60 24", preserveAspectRatio: "none",
    role: "img", "aria-label": `the last minute, at most ${rounded(max)}` },
    h("path", { d: pathOf(values, values.map((_, i) => i), 60, 24, max) }))
}

function chart(one, index) {
  const values = moments.map(moment => moment[index + 1] ?? 0)
  const times = moments.map(moment => moment[0] / 1000)
  const now = values[values.length - 1] ?? 0
  const most = Math.max(...values)
  const max = Math.max(one.unit === "s" ? 0.01 : 1, most)
  const line = pathOf(values, times, 300, 56, max)
  const first = 300 - (times[times.length - 1] - times[0])
  const unit = one.unit ? ` ${one.unit}` : ""
  return h("div", { class: "card" },
    h("div", { class: "faint" }, one.label),
    h("div", {}, h("span", { class: "figure" }, rounded(now) + unit),
      h("span", { class: "faint" }, `  at most ${rounded(most)}${unit}`)),
    h("svg", { class: "chart", viewBox: "0 0 300 56", preserveAspectRatio: "none", role: "img",
      "aria-label": `${one.label}, the last five minutes` },
      h("path", { class: "area", d: `${line}L300 56L${first.toFixed(1)} 56Z` }),
      h("path", { class: "line", d: line })))
}

// ---- pages ----

function fiberButton(name, place) {
  return h("button", { class: "link", "data-key": `${place} ${name}`,
    onclick: () => showFiber(name) }, name)
}

function member(one, place) {
  return h("li", { class: "member" },
    fiberButton(one.fiber, place),
    h("span", {}, one.state + (one.since < 0 ? "" : ` for ${age(one.since)}`)),
    one.awaits ? h("span", { class: "faint" }, one.state === "blocked" ? "in " : "waits for ",
      one.awaits) : null,
    one.holders.length ? h("span", {}, "held by ",
      one.holders.map((name, i) =>
        [i ? ", " : "", fiberButton(name, `${place} ${one.fiber}`)])) : null,
    place === "list" ? null : h("span", { class: "name" }, one.title))
}

function members(id) {
  const known = open.get(id)
  if (!known) return h("p", { class: "faint" }, "loading")
  const left = known.count - known.fibers.length
  return [
    h("ul", { class: "members" }, known.fibers.map(one => member(one, "list"))),
    left > 0 ? h("p", { class: "faint" },
      `${count(left)} younger ones are left out. Search for a name to see one.`) : null]
}

function groupCard(group) {
  const isOpen = open.has(group.id)
  const states = Object.entries(group.states).map(([state, n]) => `${count(n)} ${state}`).join(", ")
  return h("li", { class: "card group" },
    h("button", { class: "row", "data-key": `group ${group.id}`, "aria-expanded": `${isOpen}`,
      onclick: () => toggle(group.id) },
      h("b", {}, count(group.count)), h("span", {}, age(group.oldest)),
      h("span", { class: "name" }, group.title),
      h("span", { class: "what" }, states, group.awaits ? `; waits for ${group.awaits}` : "")),
    isOpen ? h("ul", { class: "lines" }, group.lines.map(line => h("li", {}, `at ${line}`))) : null,
    isOpen ? members(group.id) : null)
}

const isTree = () => byId("sort").value === "tree"

function branch(parent, path) {
  const known = trees.get(parent)
  if (!known) return h("p", { class: "faint" }, "loading")
  const left = known.count - known.fibers.length
  return [
    h("ul", { class: "tree" }, known.fibers.map(one => {
      const isOpen = trees.has(one.fiber) && !path.includes(one.fiber)
      return h("li", {},
        h("ul", { class: "members" }, member(one, `tree ${path.join(" ")}`)),
        one.under && !path.includes(one.fiber)
          ? h("button", { class: "link", "data-key": `branch ${[...path, one.fiber].join(" ")}`,
            "aria-expanded": `${isOpen}`, onclick: () => toggleBranch(one.fiber) },
            isOpen ? "hide" : `show the ${count(one.under)} that it waits for`) : null,
        isOpen ? branch(one.fiber, [...path, one.fiber]) : null)
    })),
    left > 0 ? h("p", { class: "faint" }, `${count(left)} younger ones are left out.`) : null]
}

function treePage() {
  return [
    h("h2", {}, `Fibers for which no other waits, and below them those that they wait for`),
    h("div", { class: "card" }, branch("", []))]
}

function fibersPage() {
  if (isTree()) return treePage()
  if (!fibers) return h("p", { class: "faint" }, "loading")
  const left = fibers.groupCount - fibers.groups.length
  return [
    h("ul", { class: "states", "aria-label": "States" },
      h("li", {}, h("b", {}, `${count(fibers.total)} fibers`)),
      Object.entries(fibers.states).map(([state, n]) => h("li", {},
        h("button", { "data-key": `state ${state}`, onclick: () => search(state) },
          `${count(n)} ${state}`)))),
    fibers.cycles.map(cycle => h("section", { class: "warning" },
      h("b", {}, "These wait for each other, and can never continue"),
      h("ul", { class: "plain" }, cycle.map(one => member(one, "cycle"))))),
    fibers.longest.length ? [h("h2", {}, "Longest waits"),
      h("ul", { class: "plain card" }, fibers.longest.map(one => member(one, "longest")))] : null,
    h("h2", {}, byId("search").value ? `${count(fibers.found)} fibers found, by line`
      : "All fibers, by line"),
    h("ul", { class: "plain" }, fibers.groups.map(groupCard)),
    left > 0 ? h("p", { class: "faint" }, `${count(left)} more lines. Search to see them.`) : null]
}

function bar(s) {
  const parts = [["busy", s.busy], ["input", s.forInput], ["room", s.forRoom]]
  const all = Math.max(1, parts.reduce((sum, [, share]) => sum + share, 0))
  let x = 0
  return h("svg", { class: "bar", viewBox: "0 0 100 8", preserveAspectRatio: "none",
    "aria-hidden": "true" },
    h("rect", { class: "rest", x: 0, y: 0, width: 100, height: 8 }),
    parts.map(([name, share]) => {
      const width = share / all * 100
      x += width
      return h("rect", { class: name, x: x - width, y: 0, width, height: 8 })
    }))
}

function streamsPage() {
  if (!sample) return h("p", { class: "faint" }, "loading")
  if (!sample.streams.length) return h("p", {},
    "No stream has a monitor with a name: give it one with ",
    h("code", {}, "StreamMonitor.make.map(_.named(\"orders\"))"), " and ",
    h("code", {}, "stream.observed(monitor)"), ".")
  const key = name => h("span", { class: `key ${name}` })
  return [
    h("p", { class: "faint" }, key("busy"), " busy  ", key("input"), " waits for input  ",
      key("room"), " waits for room. Shares of the last second."),
    sample.streams.map(stream => h("section", { class: "card" },
      h("h2", { class: "name" }, stream.name),
      h("ol", { class: "pipe" }, stream.stretches.map(s => h("li", {},
        h("div", { class: s.isBottleneck ? "box slowest" : "box" },
          h("b", {}, s.name), s.isBottleneck ? h("span", { class: "mark" }, "  bottleneck") : null,
          h("div", { class: "figure" }, `${rounded(s.perSecond)}/s`),
          bar(s),
          h("div", { class: "faint" }, `${percent(s.busy)} busy`),
          h("div", { class: "faint" },
            `${percent(s.forInput)} for input, ${percent(s.forRoom)} for room`),
          h("div", { class: "faint" }, `${count(s.elements)} in all`,
            s.queued === undefined ? "" : `, ${count(s.queued)} queued`)))))))]
}

function runtimePage() {
  return h("div", { class: "charts" }, series.map(chart))
}

function chip(figure) {
  const rate = figure.perSecond === undefined ? "" : ` (${rounded(figure.perSecond)}/s)`
  return h("span", {}, `${figure.label} `, h("b", {}, rounded(figure.value)), rate)
}

function deadCard(queue) {
  const known = dead.get(queue)
  const button = (title, job, action) => mayChange
    ? h("button", { "data-key": `${action} ${queue} ${job.id}`,
      onclick: () => changeDead(queue, job.id, action) }, title) : null
  return h("div", { class: "card" },
    h("button", { class: "row", "data-key": `dead ${queue}`,
      "aria-expanded": `${dead.has(queue)}`, onclick: () => toggleDead(queue) },
      h("b", {}, "dead jobs of "), h("span", { class: "name" }, queue)),
    !dead.has(queue) ? null
      : !known ? h("p", { class: "faint" }, "loading")
        : known.error ? h("p", { role: "alert" }, known.error)
          : [
            known.jobs.length ? null : h("p", { class: "faint" }, "none"),
            h("ul", { class: "members" }, known.jobs.map(job => h("li", { class: "member" },
              h("b", {}, job.id), h("span", {}, `died ${job.died}, attempts: ${job.attempts}`),
              job.key ? h("span", {}, `key ${job.key}`) : null,
              h("span", { class: "name" }, job.error),
              button("Put back", job, "revive"), button("Delete", job, "delete")))),
            known.hasMore ? h("p", { class: "faint" }, "Earlier ones are left out.") : null])
}

function queuesPage() {
  if (!sample) return h("p", { class: "faint" }, "loading")
  const kinds = [...new Set(sample.things.map(thing => thing.kind))]
  if (!kinds.length && !sample.own.length && !queues.length) return h("p", {},
    "Nothing has a name: give it one with ",
    h("code", {}, ".named(\"orders\")"), ", such as a queue, a semaphore or a cache.")
  return [
    kinds.map(kind => [h("h2", {}, kind),
      h("div", { class: "card" }, sample.things.filter(thing => thing.kind === kind).map(thing =>
        h("div", { class: "thing" }, h("b", {}, thing.name), spark(thing.trend),
          h("div", { class: "chips" }, thing.figures.map(chip)),
          thing.namedAt ? h("div", { class: "faint name" }, `named at ${thing.namedAt}`) : null)))]),
    sample.own.length ? [h("h2", {}, "Figures of the program"),
      h("div", { class: "card chips" }, sample.own.map(figure =>
        h("span", {}, `${figure.name} `, chip(figure))))] : null,
    queues.length ? [h("h2", {}, "Dead jobs"), h("p", { role: "status" }, deadAnswer),
      queues.map(deadCard)] : null]
}

function render() {
  for (const name of pages) {
    const tab = byId(`tab-${name}`)
    tab.setAttribute("aria-selected", `${name === page}`)
    tab.tabIndex = name === page ? 0 : -1
  }
  byId("tools").hidden = page !== "fibers"
  byId("search").disabled = isTree()
  main.setAttribute("aria-labelledby", `tab-${page}`)
  show(main, {
    fibers: fibersPage, streams: streamsPage, runtime: runtimePage, queues: queuesPage
  }[page]())
}

function renderWarnings() {
  const all = sample?.warnings ?? []
  show(byId("warnings"), all.slice(0, 8).map(one => h("div", { class: "warning" },
    h("b", {}, one.title), `. ${one.text} `,
    h("ul", { class: "plain" }, one.fibers.map(fiber => h("li", {},
      fiberButton(fiber.name, `warning ${one.title}`), " ",
      h("span", { class: "name" }, fiber.line)))))),
    all.length > 8 ? h("p", { class: "faint" }, `${all.length - 8} more warnings`) : null)
}

// ---- one fiber ----

async function showFiber(name) {
  const dialog = byId("fiber")
  const response = await fetch(`/api/fiber?fiber=${encodeURIComponent(name)}`)
  const close = h("button", { onclick: () => dialog.close() }, "Close")
  if (!response.ok) dialog.replaceChildren(h("p", {}, await response.text()), close)
  else {
    const one = await response.json()
    const row = (title, ...what) => [h("dt", {}, title), h("dd", {}, what)]
    dialog.replaceChildren(
      h("b", { class: "name" }, `fiber ${one.fiber}`),
      h("dl", {},
        row("state", one.state, one.since < 0 ? "" : ` for ${age(one.since)}`),
        one.awaits ? row(one.state === "blocked" ? "in" : "waits for", one.awaits) : null,
        one.holders.length ? row("held by", one.holders.map((holder, i) =>
          [i ? ", " : "", fiberButton(holder, "holder")])) : null,
        one.thread ? row("thread", one.thread) : null),
      h("ul", { class: "lines" }, one.lines.map(line => h("li", {}, `at ${line}`))),
      h("div", { class: "actions" }, close,
        mayChange ? h("button", { onclick: () => cancel(one.fiber) }, "Cancel this fiber") : null),
      h("p", { id: "answer", role: "status" }))
  }
  if (!dialog.open) dialog.showModal()
}

async function cancel(name) {
  const response = await fetch(`/api/cancel?fiber=${encodeURIComponent(name)}`, { method: "POST" })
  byId("answer").textContent = await response.text()
  loadFibers()
}

// ---- what the server says ----

const asked = path => fetch(path).then(response => {
  if (!response.ok) throw new Error(`${response.status}`)
  return response.json()
})
const wanted = () => `search=${encodeURIComponent(byId("search").value)}&sort=${byId("sort").value}`

let loads = 0
async function loadFibers() {
  const load = ++loads
  try {
    if (isTree()) {
      await Promise.all(["", ...trees.keys()].map(loadBranch))
      if (load === loads && page === "fibers") render()
      return
    }
    const found = await asked(`/api/fibers?${wanted()}`)
    await Promise.all([...open.keys()].map(id => asked(`/api/group?id=${id}&${wanted()}`)
      .then(group => open.has(id) && open.set(id, group), () => open.delete(id))))
    if (load !== loads) return
    fibers = found
    if (page === "fibers") render()
  } catch (error) { /* the events say that the server is gone */ }
}

const loadBranch = parent => asked(`/api/tree?parent=${encodeURIComponent(parent)}`)
  .then(found => trees.set(parent, found), () => trees.delete(parent))

async function toggleBranch(fiber) {
  if (trees.has(fiber)) trees.delete(fiber)
  else await loadBranch(fiber)
  render()
}

async function loadQueues() {
  try {
    queues = await asked("/api/queues")
    await Promise.all([...dead.keys()].map(loadDead))
    if (page === "queues") render()
  } catch (error) { /* the events say that the server is gone */ }
}

const inQueue = queue => `queue=${encodeURIComponent(queue)}`

async function loadDead(queue) {
  const response = await fetch(`/api/dead?${inQueue(queue)}`)
  dead.set(queue, response.ok ? await response.json() : { error: await response.text() })
}

async function toggleDead(queue) {
  if (dead.has(queue)) dead.delete(queue)
  else {
    dead.set(queue, null)
    render()
    await loadDead(queue)
  }
  render()
}

async function changeDead(queue, id, action) {
  if (action === "delete" && !confirm(`Delete job ${id}? It cannot be put back afterwards.`)) return
  const response =
    await fetch(`/api/dead/${action}?${inQueue(queue)}&id=${id}`, { method: "POST" })
  deadAnswer = await response.text()
  await loadDead(queue)
  render()
}

async function toggle(id) {
  if (open.has(id)) open.delete(id)
  else {
    open.set(id, null)
    render()
    await asked(`/api/group?id=${id}&${wanted()}`)
      .then(group => open.set(id, group), () => open.delete(id))
  }
  render()
}

function search(text) {
  byId("search").value = byId("search").value === text ? "" : text
  loadFibers()
}

async function keepLoading() {
  const begun = performance.now()
  const isWatched = !byId("pause").checked && !document.hidden
  if (page === "fibers" && isWatched) await loadFibers()
  if (page === "queues" && isWatched) await loadQueues()
  setTimeout(keepLoading, Math.max(2000, 5 * (performance.now() - begun)))
}

function take(now) {
  if (byId("pause").checked) return
  sample = now
  const last = moments[moments.length - 1]
  if (!last || last[0] < now.moment[0]) moments.push(now.moment)
  moments = moments.slice(-300)
  renderWarnings()
  if (page !== "fibers") render()
}

function listen() {
  const events = new EventSource("/events")
  events.onopen = () => { byId("state").textContent = "live" }
  events.onerror = () => { byId("state").textContent = "not connected: the figures are old" }
  events.onmessage = event => take(JSON.parse(event.data))
}

// ---- keys ----

function go(name) {
  page = name
  history.replaceState(null, "", `#${name}`)
  render()
  if (name === "fibers") loadFibers()
  if (name === "queues") loadQueues()
}

for (const name of pages) byId(`tab-${name}`).addEventListener("click", () => go(name))
byId("tabs").addEventListener("keydown", event => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
  if (!step) return
  go(pages[(pages.indexOf(page) + step + pages.length) % pages.length])
  byId(`tab-${page}`).focus()
})
byId("search").addEventListener("input", loadFibers)
byId("sort").addEventListener("change", loadFibers)
addEventListener("hashchange", () => {
  const name = location.hash.slice(1)
  if (pages.includes(name) && name !== page) go(name)
})
document.addEventListener("keydown", event => {
  const inField = ["INPUT", "SELECT"].includes(event.target.tagName)
  if (event.key === "Escape" && inField) event.target.blur()
  if (inField || event.ctrlKey || event.metaKey || event.altKey || byId("fiber").open) return
  if (event.key >= "1" && event.key <= "4") go(pages[event.key - 1])
  else if (event.key === "p") byId("pause").click()
  else if (event.key === "/") {
    event.preventDefault()
    if (page !== "fibers") go("fibers")
    byId("search").focus()
  }
})

async function begin() {
  render()
  try {
    const about = await asked("/api/runtime")
    mayChange = about.mayChange
    series = about.history.series
    moments = about.history.moments
    take(await asked("/api/now"))
  } catch (error) { byId("state").textContent = `not connected: ${error.message}` }
  listen()
  await keepLoading()
}
begin()
