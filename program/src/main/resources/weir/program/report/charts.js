// From a card of figures to what ECharts draws. Runs in a page and, for SVG files, on the JVM.
var weirCharts = (function () {
  'use strict';

  // Weir stands out; the rivals can be told from each other, and no more.
  var systems = {
    'weir': ['#0f62d6', '#4c9dff'],
    'cats-effect': ['#b39a8c', '#a08778'],
    'cats-effect-vt': ['#cdb8aa', '#8a7568'],
    'fs2': ['#c2a0a6', '#a87f88'],
    'zio': ['#a0ad8e', '#8b9a78'],
    'monix': ['#b6a8c9', '#9a8bb0'],
    'scalaz': ['#978db0', '#81769c'],
    'future': ['#cdbd8f', '#ab9b6b'],
    'completable-future': ['#bca672', '#93814f'],
    'ox': ['#8fb3ab', '#73988f'],
    'java-stream': ['#aab3bd', '#8a94a0'],
    'virtual-threads': ['#8794a1', '#6d7b89']
  };

  var themes = [
    { text: '#1b2430', muted: '#5d6977', line: '#e3e7ec', warn: '#b3541e' },
    { text: '#e8edf3', muted: '#9aa7b5', line: '#2b343f', warn: '#f0a36b' }
  ];

  // Without quotation marks, which would end the attribute of an SVG file that this stands in.
  var font = 'system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, Arial, sans-serif';

  // How many pixels the longest text beside a bar needs.
  function valuesWidth(card) {
    var longest = 0;
    card.blocks.forEach(function (block) {
      block.bars.forEach(function (bar) {
        longest = Math.max(longest, bar.text.length + (bar.ratio ? bar.ratio.length + 2 : 0));
      });
    });
    return 14 + 8 * longest;
  }

  // Where there is room, names stand to the left of the bars and values to the right of them; on a
  // narrow screen both stand above.
  function layout(card, width) {
    return width >= 440
      ? { isWide: true, left: 150, right: valuesWidth(card), row: 25, bar: 15, heading: 28, gap: 12 }
      : { isWide: false, left: 1, right: 1, row: 38, bar: 9, heading: 30, gap: 14 };
  }

  // As much of the name as fits into a line of `width` pixels with the value behind it.
  function shortened(bar, width) {
    var room = Math.floor(width / 8) - bar.text.length - bar.ratio.length - 4;
    return bar.name.length <= room ? bar.name : bar.name.slice(0, Math.max(room - 1, 4)) + '\u2026';
  }

  function label(bar, at, width) {
    var value = '{value|' + bar.text + '}';
    var ratio = bar.ratio ? '{' + (bar.isBehindWeir ? 'ratio' : 'ahead') + '|' + bar.ratio + '}' : '';
    return at.isWide ? value + ratio : '{name|' + shortened(bar, width) + '}  ' + value + ratio;
  }

  // The length of a bar. ECharts would begin the bars of a logarithmic axis at 1, not at its start.
  function length(value, block, isLog) {
    return isLog ? Math.log(Math.max(value, block.low) / block.low) : value;
  }

  function item(bar, block, isLog, isDark, theme, at, width) {
    var isWeir = bar.system === 'weir';
    var colour = (systems[bar.system] || ['#9aa3ad', '#7d8792'])[isDark];
    return {
      value: length(bar.value, block, isLog),
      itemStyle: bar.system === 'bound'
        ? { color: 'transparent', borderColor: theme.muted, borderWidth: 1.2, borderType: [4, 3] }
        : { color: colour },
      label: {
        formatter: label(bar, at, width),
        rich: {
          name: { color: theme.text, fontWeight: isWeir ? 700 : 400 },
          value: { color: theme.text, fontWeight: isWeir ? 700 : 400 },
          // Without a browser ECharts takes texts for narrower than they are.
          ratio: { color: theme.muted, fontWeight: 700, padding: [0, 0, 0, 14] },
          ahead: { color: theme.warn, fontWeight: 700, padding: [0, 0, 0, 14] }
        }
      }
    };
  }

  // A line and its points, darker than a bar, on a light page and on a dark one.
  var strokes = {
    'weir': ['#0f62d6', '#4c9dff', 'circle'],
    'cats-effect': ['#8c4f2b', '#d99a75', 'rect'],
    'fs2': ['#a3374f', '#e58ca0', 'rect'],
    'zio': ['#4d7a1f', '#9ccb6b', 'triangle'],
    'pekko': ['#6b45a8', '#b99aec', 'diamond'],
    'fork-join': ['#9a6a00', '#dfb04c', 'arrow'],
    'virtual-threads': ['#4a5663', '#aebbc8', 'roundRect']
  };

  function log2(value) { return Math.log(value) / Math.LN2; }

  // The label of a line of the axis at 2 to the power of `exponent`.
  function power(exponent) { return String(Math.pow(2, exponent)); }

  function line(name, points, colour, symbol, isIdeal) {
    return {
      type: 'line', name: name, silent: true, showSymbol: !isIdeal, symbol: symbol,
      symbolSize: name === 'weir' ? 9 : 8, z: name === 'weir' ? 4 : 3,
      lineStyle: { color: colour, width: name === 'weir' ? 3 : 1.8, type: isIdeal ? [5, 4] : 'solid' },
      itemStyle: { color: colour },
      data: points.map(function (point) { return [log2(point[0]), log2(point[1])]; })
    };
  }

  // Rows of the legend above a chart of `width` pixels.
  function legendRows(names, width) {
    var rows = 1, used = 0;
    names.forEach(function (name) {
      var needed = 48 + 7 * name.length;
      if (used > 0 && used + needed > width) { rows += 1; used = 0; }
      used += needed;
    });
    return rows;
  }

  function axis(least, most, format, name, theme) {
    return {
      type: 'value', min: least, max: most, interval: 1,
      name: name, nameLocation: 'middle', nameGap: 27, nameTextStyle: { color: theme.muted, fontSize: 13 },
      axisLabel: { color: theme.text, fontSize: 13, formatter: format },
      axisLine: { show: false }, axisTick: { show: false },
      splitLine: { show: true, lineStyle: { color: theme.line } }
    };
  }

  // A line for each system over the number of carriers, both by powers of two.
  function drawLines(card, width, isDark) {
    var theme = themes[isDark];
    var most = Math.max.apply(null, card.carriers);
    var least = Math.min.apply(null, card.carriers);
    var series = card.lines.map(function (one) {
      var stroke = strokes[one.system] || ['#6d7782', '#9aa3ad', 'circle'];
      return line(one.system, one.points, stroke[isDark], stroke[2], false);
    });
    var end = card.ideal > 1 ? most : 1;
    var ideal = line('ideal', [[least, card.ideal > 1 ? least : 1], [most, end]], theme.muted, 'none', true);
    var heights = [log2(end)].concat(series.reduce(function (all, one) {
      return all.concat(one.data.map(function (point) { return point[1]; }));
    }, []));
    var names = series.map(function (one) { return one.name; });
    var top = 24 * legendRows(names.concat('ideal'), width) + 14;
    var right = Math.max(Math.ceil(log2(most)), Math.ceil(log2(least)) + 1);
    var low = Math.min(0, Math.floor(Math.min.apply(null, heights)));
    var high = Math.max(1, Math.ceil(Math.max.apply(null, heights)));
    var height = 250;
    return {
      option: {
        animation: false,
        textStyle: { fontFamily: font, fontSize: 13 },
        legend: {
          data: names.concat({ name: 'ideal', itemStyle: { opacity: 0 } }), selectedMode: false, left: 0, top: 0, padding: [2, 0], itemGap: 14,
          itemWidth: 26, textStyle: { color: theme.text, fontSize: 13 }
        },
        grid: { left: 44, right: 14, top: top, height: height },
        xAxis: axis(Math.floor(log2(least)), right, power, 'carriers', theme),
        yAxis: axis(low, high, function (at) { return power(at) + 'x'; }, '', theme),
        series: [ideal].concat(series)
      },
      height: top + height + 48
    };
  }

  // What to draw in `width` pixels, and how high it is.
  function draw(card, width, isDarkPage) {
    return card.lines ? drawLines(card, width, isDarkPage ? 1 : 0) : drawBars(card, width, isDarkPage);
  }

  function drawBars(card, width, isDarkPage) {
    var isDark = isDarkPage ? 1 : 0;
    var theme = themes[isDark];
    var at = layout(card, width);
    var top = 5; // letters may reach above their line
    var option = {
      animation: false,
      // Whole sizes: without a browser ECharts takes 12.5px for 5px.
      textStyle: { fontFamily: font, fontSize: 13 },
      title: [], grid: [], xAxis: [], yAxis: [], series: []
    };
    card.blocks.forEach(function (block, index) {
      if (index > 0) top += at.gap;
      if (block.name) {
        option.title.push({
          text: block.name, left: 0, top: top, padding: 0,
          textStyle: { fontSize: 14, fontWeight: 600, color: theme.text, width: width - 4, overflow: 'truncate' }
        });
        top += at.heading;
      }
      var height = at.row * block.bars.length;
      option.grid.push({ left: at.left, right: at.right, top: top, height: height, show: false });
      option.xAxis.push({
        gridIndex: index,
        type: 'value',
        min: 0, max: length(block.high, block, card.isLog) || 1,
        interval: card.isLog ? Math.LN10 : undefined, // a line for each factor of ten
        axisLabel: { show: false }, axisLine: { show: false }, axisTick: { show: false },
        splitLine: { show: card.isLog, lineStyle: { color: theme.line } }
      });
      option.yAxis.push({
        gridIndex: index, type: 'category', inverse: true,
        data: block.bars.map(function (bar) { return bar.name; }),
        axisLine: { show: at.isWide, lineStyle: { color: theme.line } }, axisTick: { show: false },
        axisLabel: {
          show: at.isWide, interval: 0, width: at.left - 10, overflow: 'truncate', margin: 9,
          formatter: function (name) { return '{' + (name === 'weir' ? 'weir' : 'other') + '|' + name + '}'; },
          rich: {
            weir: { color: systems.weir[isDark], fontWeight: 700, fontSize: 13 },
            other: { color: theme.text, fontSize: 13 }
          }
        }
      });
      option.series.push({
        type: 'bar', xAxisIndex: index, yAxisIndex: index, silent: true, barWidth: at.bar,
        itemStyle: { borderRadius: [0, 3, 3, 0] },
        label: at.isWide
          ? { show: true, position: 'right', distance: 7 }
          : { show: true, position: [0, -7], align: 'left', verticalAlign: 'bottom' },
        data: block.bars.map(function (bar) { return item(bar, block, card.isLog, isDark, theme, at, width); })
      });
      top += height;
    });
    return { option: option, height: top + (at.isWide ? 2 : 0) };
  }

  return { draw: draw };
})();
