// Narrows the lists to what was searched for.
(() => {
  'use strict';

  const input = document.getElementById('q');
  const found = document.getElementById('found');
  const rows = [...document.querySelectorAll('tr[data-words]')];

  // Every word must be in a row's own words, be its key, or begin a part of a field's name.
  const match = (row, words) => {
    const own = row.dataset.words.split(' ');
    const fields = new Set();
    for (const word of words) {
      if (/^\d+$/.test(word)) {
        if (!own.includes(word)) return null;
        continue;
      }
      if (row.dataset.words.includes(word)) continue;
      const field = row.dataset.fields.split(' ').find(f => f.includes(word));
      if (!field) return null;
      fields.add(field);
    }
    return fields;
  };

  const search = () => {
    const words = input.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
    let n = 0;
    for (const row of rows) {
      const fields = match(row, words);
      row.hidden = !fields;
      row.querySelector('.hit').textContent = fields?.size ? ' has ' + [...fields].join(', ') : '';
      if (fields) n++;
    }
    for (const section of document.querySelectorAll('main section')) {
      section.hidden = !section.querySelector('tr[data-words]:not([hidden])');
    }
    found.textContent = words.length ? n + ' of ' + rows.length : '';
    history.replaceState(null, '', words.length ? '#' + encodeURIComponent(input.value) : location.pathname + location.search);
  };

  input.addEventListener('input', search);
  document.querySelector('.search').addEventListener('submit', e => {
    e.preventDefault();
    document.querySelector('tr[data-words]:not([hidden]) a')?.click();
  });
  document.addEventListener('keydown', e => {
    if (e.key === '/' && document.activeElement !== input) {
      e.preventDefault();
      input.select();
    }
  });
  if (location.hash.length > 1) {
    try {
      input.value = decodeURIComponent(location.hash.slice(1));
      search();
    } catch { /* no search of ours */ }
  }
})();
