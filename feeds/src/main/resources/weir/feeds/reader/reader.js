// Follows the database: asks for its stamp now and then, and when that has changed, reads the page
// again and brings the lists that can change up to date, row by row, so that what a reader has
// scrolled to or chosen stays.
(function () {
  'use strict';
  var pause = 2000;
  var place = document.getElementById('live');
  var news = document.getElementById('news');
  var calm = window.matchMedia('(prefers-reduced-motion: reduce)');
  var stamp = place.dataset.stamp;

  function text(address) {
    return fetch(address, { cache: 'no-store', credentials: 'omit' }).then(function (answer) {
      if (!answer.ok) throw new Error(String(answer.status));
      return answer.text();
    });
  }

  // The rows of `next` in `list`, and how many of them are new or say something new.
  function update(list, next) {
    var known = new Map();
    Array.from(list.children).forEach(function (row) { known.set(row.id, row); });
    var changed = 0;
    var at = list.firstElementChild;
    Array.from(next.children).forEach(function (other) {
      var row = known.get(other.id);
      known.delete(other.id);
      if (!row || !row.isEqualNode(other)) {
        var fresh = document.importNode(other, true);
        if (row) {
          if (row === at) at = row.nextElementSibling;
          var had = row.contains(document.activeElement);
          row.remove();
          list.insertBefore(fresh, at);
          if (had && fresh.querySelector('a')) fresh.querySelector('a').focus();
        } else list.insertBefore(fresh, at);
        if (!calm.matches) fresh.animate([{ background: '#f5b80066' }, {}], { duration: 4000 });
        changed += 1;
      } else if (row === at) at = row.nextElementSibling;
      else list.insertBefore(row, at);
    });
    known.forEach(function (row) { row.remove(); });
    return changed;
  }

  function refresh(html) {
    var next = new DOMParser().parseFromString(html, 'text/html');
    var counts = {};
    document.querySelectorAll('[data-live]').forEach(function (list) {
      var other = next.getElementById(list.id);
      if (!other) return;
      var changed = update(list, other);
      if (list.dataset.live && changed) counts[list.dataset.live] = changed;
      var none = list.previousElementSibling;
      if (list.children.length && none && none.className === 'none') none.remove();
    });
    // The link to older items goes on where the list now ends.
    ['pages', 'pager'].forEach(function (id) {
      var old = document.getElementById(id);
      var other = next.getElementById(id);
      if (old && !old.isEqualNode(other)) old.replaceWith(other);
    });
    stamp = next.getElementById('live').dataset.stamp;
    var said = Object.keys(counts).map(function (kind) {
      return counts[kind] + ' new ' + kind + (counts[kind] === 1 ? '' : 's');
    });
    if (said.length) news.textContent = said.join(', ') + ' at ' + clock();
  }

  function clock() {
    return new Date().toTimeString().slice(0, 8);
  }

  function say(state, words) {
    place.className = state;
    place.textContent = words;
  }

  function look() {
    if (document.hidden) return Promise.resolve();
    return text('/live')
      .then(function (now) { return now === stamp ? null : text(location.href).then(refresh); })
      .then(
        function () { say('on', 'Live, ' + clock()); },
        function () { say('off', 'weir feeds serve does not answer. Trying again.'); }
      );
  }

  function loop() {
    look().then(function () { setTimeout(loop, pause); });
  }

  document.addEventListener('visibilitychange', look);
  loop();
})();
