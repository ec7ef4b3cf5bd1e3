// Draws each card into its place, and again when the page's width or colours change.
(function () {
  'use strict';
  var cards = JSON.parse(document.getElementById('cards').textContent);
  var dark = window.matchMedia('(prefers-color-scheme: dark)');
  var places = Array.prototype.slice.call(document.querySelectorAll('.chart'));
  var charts = places.map(function (place) {
    return echarts.init(place, null, { renderer: 'svg', height: 1 });
  });

  function drawAll() {
    places.forEach(function (place, index) {
      var width = place.clientWidth;
      var drawing = weirCharts.draw(cards[index], width, dark.matches);
      place.style.height = drawing.height + 'px';
      charts[index].resize({ width: width, height: drawing.height });
      charts[index].setOption(drawing.option, true);
    });
  }

  var waiting = 0;
  function drawSoon() {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(drawAll);
  }

  window.addEventListener('resize', drawSoon);
  dark.addEventListener('change', drawSoon);
  drawAll();
})();
