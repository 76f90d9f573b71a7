// Lights the bytes of a field and the field of a byte, by pointer and by keyboard.
(() => {
  'use strict';

  const now = document.querySelector('.now');
  const hint = now.innerHTML;
  const ROW = 16;
  let picked = null; // the node that stays lit: a treeitem

  // A side is a request or a response with its tree and its grids.
  const sides = new Map();
  for (const el of document.querySelectorAll('.side')) {
    const side = { el, nodes: [...el.querySelectorAll('.node')], grids: new Map() };
    for (const grid of el.querySelectorAll('.grid')) {
      side.grids.set(grid.dataset.source, [...grid.querySelectorAll('b')]);
    }
    side.nodes.forEach((node, i) => { node.at = i; });
    for (const bytes of side.grids.values()) {
      bytes.forEach((b, i) => { b.at = i; });
      if (bytes.length) bytes[0].tabIndex = 0;
    }
    if (side.nodes.length) side.nodes[0].tabIndex = 0;
    sides.set(el.id, side);
  }

  const sideOf = el => sides.get(el.closest('.side').id);
  const bytesOf = node => {
    const from = +node.dataset.o;
    const grid = sideOf(node).grids.get(node.dataset.s) || [];
    return grid.slice(from, from + +node.dataset.l);
  };
  const nodeOf = byte => document.getElementById(byte.closest('.side').id + '-' + byte.dataset.n);
  const depth = node => +node.getAttribute('aria-level');

  const ancestors = node => {
    const path = [];
    const { nodes } = sideOf(node);
    for (let i = node.at - 1, d = depth(node); i >= 0 && d > 0; i--) {
      if (depth(nodes[i]) < d) {
        d = depth(nodes[i]);
        path.unshift(nodes[i]);
      }
    }
    return path;
  };

  let lit = [];
  const show = node => {
    for (const el of lit) el.classList.remove('lit');
    lit = node ? [node, ...bytesOf(node)] : [];
    for (const el of lit) el.classList.add('lit');
    if (!node) {
      now.innerHTML = hint;
      return;
    }
    const part = (cls, text) => {
      const span = document.createElement('span');
      span.className = cls;
      span.textContent = text;
      return span;
    };
    const text = cls => node.querySelector('.' + cls)?.textContent ?? '';
    const path = ancestors(node).slice(1).map(n => n.querySelector('.name').textContent + ' \u203a ').join('');
    now.replaceChildren(part('path', path), part('name', text('name')), ' ', part('type', text('type')), ' ', part('value', text('value')), ' ',
      part('note', text('note')), ' ', part('span', text('span')), ' ', part('about', text('about')));
  };

  const reveal = node => {
    for (const a of ancestors(node)) if (a.getAttribute('aria-expanded') === 'false') expand(a, true);
  };

  const pick = node => {
    if (picked) picked.removeAttribute('aria-selected');
    picked = node;
    show(node);
    if (!node) {
      history.replaceState(null, '', location.pathname + location.search);
      return;
    }
    reveal(node);
    node.setAttribute('aria-selected', 'true');
    history.replaceState(null, '', '#' + node.id);
  };

  const expand = (node, open) => {
    const { nodes } = sideOf(node);
    node.setAttribute('aria-expanded', String(open));
    for (let i = node.at + 1; i < nodes.length && depth(nodes[i]) > depth(node); i++) {
      nodes[i].hidden = !open;
      // What was folded inside stays folded.
      if (open && nodes[i].getAttribute('aria-expanded') === 'false') {
        const d = depth(nodes[i]);
        while (i + 1 < nodes.length && depth(nodes[i + 1]) > d) i++;
      }
    }
  };

  // rove moves the one element of a group that Tab reaches.
  const rove = (group, el) => {
    for (const other of group) if (other.tabIndex === 0) other.tabIndex = -1;
    el.tabIndex = 0;
  };
  const go = (group, el) => {
    if (!el) return;
    rove(group, el);
    el.focus({ preventScroll: true });
    el.scrollIntoView({ block: 'nearest' });
  };

  document.addEventListener('mouseover', e => {
    const el = e.target.closest?.('.node, .grid b');
    if (!el) {
      if (lit.length && lit[0] !== picked) show(picked);
      return;
    }
    show(el.matches('.node') ? el : nodeOf(el));
  });
  document.addEventListener('mouseleave', () => show(picked));

  document.addEventListener('focusin', e => {
    if (e.target.matches('.node')) pick(e.target);
    else if (e.target.matches('.grid b')) pick(nodeOf(e.target));
  });
  document.addEventListener('click', e => {
    const el = e.target.closest('.node, .grid b');
    if (!el) return;
    const side = sideOf(el);
    if (el.matches('.node')) {
      // The triangle of a group lies left of its name.
      const left = el.querySelector('.what').getBoundingClientRect().left;
      if (el.hasAttribute('aria-expanded') && e.clientX < left) expand(el, el.getAttribute('aria-expanded') === 'false');
      go(side.nodes, el);
      bytesOf(el)[0]?.scrollIntoView({ block: 'nearest' });
    } else {
      go(side.grids.get(el.closest('.grid').dataset.source), el);
      nodeOf(el).scrollIntoView({ block: 'nearest' });
    }
  });

  const inGrid = (e, byte) => {
    const bytes = sideOf(byte).grids.get(byte.closest('.grid').dataset.source);
    const start = byte.at - byte.at % ROW;
    const to = {
      ArrowLeft: byte.at - 1, ArrowRight: byte.at + 1, ArrowUp: byte.at - ROW, ArrowDown: byte.at + ROW,
      Home: e.ctrlKey ? 0 : start, End: e.ctrlKey ? bytes.length - 1 : Math.min(start + ROW, bytes.length) - 1,
    }[e.key];
    if (e.key === 'Enter') go(sideOf(byte).nodes, nodeOf(byte));
    else if (to === undefined) return false;
    else go(bytes, bytes[to]);
    return true;
  };

  const inTree = (e, node) => {
    const { nodes } = sideOf(node);
    const near = step => {
      let i = node.at + step;
      while (nodes[i]?.hidden) i += step;
      return nodes[i];
    };
    const open = node.getAttribute('aria-expanded');
    switch (e.key) {
      case 'ArrowDown': go(nodes, near(1)); break;
      case 'ArrowUp': go(nodes, near(-1)); break;
      case 'ArrowRight': if (open === 'false') expand(node, true); else if (open) go(nodes, near(1)); break;
      case 'ArrowLeft': if (open === 'true') expand(node, false); else go(nodes, ancestors(node).pop()); break;
      case 'Home': go(nodes, nodes[0]); break;
      case 'End': go(nodes, nodes.findLast(n => !n.hidden)); break;
      case 'Enter': {
        const first = bytesOf(node)[0];
        if (first) go(sideOf(node).grids.get(node.dataset.s), first);
        break;
      }
      default: return false;
    }
    return true;
  };

  document.addEventListener('keydown', e => {
    if (e.altKey || e.metaKey) return;
    if (e.key === 'Escape') {
      document.activeElement?.blur();
      pick(null);
      return;
    }
    const el = document.activeElement;
    if (!el?.matches('.node, .grid b')) return;
    if (el.matches('.node') ? inTree(e, el) : inGrid(e, el)) e.preventDefault();
  });

  window.addEventListener('beforeprint', () => {
    for (const d of document.querySelectorAll('details')) d.open = true;
  });

  // A link may name the node to show.
  const named = document.getElementById(location.hash.slice(1));
  if (named?.matches('.node')) {
    pick(named);
    rove(sideOf(named).nodes, named);
    named.scrollIntoView({ block: 'center' });
  }
})();
