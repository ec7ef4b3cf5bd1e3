// The search box: a lunr index over the sections of all pages and the names of the API, made in the
// browser when the box is first used, from search-data.js.
(() => {
  const root = new URL("./", document.currentScript.src)
  const shown = 15
  let index = null

  function load(name) {
    return new Promise((done, failed) => {
      const script = document.createElement("script")
      script.src = new URL(name, root)
      script.onload = done
      script.onerror = () => failed(new Error(`${script.src} is missing`))
      document.head.append(script)
    })
  }

  async function makeIndex() {
    await Promise.all([load("lunr.min.js"), load("search-data.js")])
    return lunr(function () {
      this.ref("at")
      this.field("title", { boost: 10 })
      this.field("page", { boost: 3 })
      this.field("text")
      searchData.forEach((entry, at) => this.add({ ...entry, at }))
    })
  }

  async function find(text) {
    index ??= makeIndex()
    const words = lunrWords(text)
    return (await index)
      .query(query => {
        for (const word of words) {
          query.term(word, { boost: 10 })
          query.term(word, { boost: 5, wildcard: lunr.Query.wildcard.TRAILING, usePipeline: false })
          if (word.length > 4) query.term(word, { editDistance: 1, usePipeline: false })
        }
      })
      .slice(0, shown)
      .map(found => searchData[found.ref])
  }

  const lunrWords = text => text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(word => word)

  function show(list, entries) {
    list.replaceChildren(
      ...entries.map(entry => {
        const link = document.createElement("a")
        link.href = new URL(entry.url, root)
        const where = document.createElement("small")
        where.textContent = entry.page
        link.append(entry.title, where)
        const item = document.createElement("li")
        item.append(link)
        return item
      })
    )
  }

  function choose(list, step) {
    const items = [...list.children]
    if (items.length === 0) return
    const now = items.findIndex(item => item.className === "chosen")
    items[now]?.removeAttribute("class")
    const next = items[(now + step + items.length) % items.length]
    next.className = "chosen"
    next.scrollIntoView({ block: "nearest" })
  }

  document.addEventListener("DOMContentLoaded", () => {
    const box = document.createElement("div")
    box.id = "search"
    box.innerHTML =
      '<input type="search" placeholder="Search" aria-label="Search" autocomplete="off"><ul></ul>'
    document.querySelector("#top-bar .links").before(box)
    const [input, list] = box.children

    input.addEventListener("input", async () => {
      const text = input.value
      const entries = lunrWords(text).length ? await find(text) : []
      if (text === input.value) show(list, entries) // or more has been typed meanwhile
    })
    box.addEventListener("keydown", event => {
      if (event.key === "ArrowDown") choose(list, 1)
      else if (event.key === "ArrowUp") choose(list, -1)
      else if (event.key === "Escape") show(list, [])
      else if (event.key === "Enter") (list.querySelector(".chosen a") ?? list.querySelector("a"))?.click()
      else return
      event.preventDefault()
    })
    document.addEventListener("click", event => box.contains(event.target) || show(list, []))
    document.addEventListener("keydown", event => {
      if (event.key === "/" && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) {
        event.preventDefault()
        input.focus()
      }
    })
    // What a link to a search, and a test, asks for: ?q=words.
    const asked = new URLSearchParams(location.search).get("q")
    if (asked) {
      input.value = asked
      input.dispatchEvent(new Event("input"))
    }
  })
})()
