// node_modules/preact/dist/preact.mjs
var n;
var t;
var r;
var u;
var i;
var f;
var o;
var e;
var l;
var c;
var a;
var s;
var h = /* @__PURE__ */ Symbol.for("pv");
var p = {};
var y = [];
var v = /^m(i|n|o|s|text|space)$/;
var w = Array.isArray;
var d = y.slice;
var _ = Object.assign;
function g(n2) {
  n2 && n2.parentNode && n2.remove();
}
function m(r2, u2, i2, f3, o3) {
  var e2 = { type: r2, props: u2, key: i2, ref: f3, __k: null, __: null, __b: 0, __e: null, __c: null, constructor: h, __v: o3 || ++t, __i: -1, __u: 0 };
  return !o3 && n.vnode && n.vnode(e2), e2;
}
function M() {
  return { current: null };
}
function $(n2) {
  return n2.children;
}
function x(n2, t2) {
  this.props = n2, this.context = t2, this.__g = 0;
}
function S(n2, t2) {
  if (null == t2) return n2.__ && S(n2.__, n2.__i + 1);
  for (var r2; t2 < n2.__k.length; t2++) if ((r2 = n2.__k[t2]) && r2.__e) return r2.__e;
  return "function" != typeof n2.type || n2.props.__P ? null : S(n2);
}
function C(t2) {
  var r2, u2 = t2.__v, i2 = u2.__e, f3 = [], o3 = [], e2 = t2.__P;
  e2 && ((r2 = _({ constructor: h }, u2)).__v = u2.__v + 1, n.vnode && n.vnode(r2), z(e2, r2, u2, t2.__n, e2.namespaceURI, 32 & u2.__u ? [i2] : null, f3, i2 || S(u2), 32 & u2.__u, o3), r2.__v = u2.__v, r2.__.__k[r2.__i] = r2, E(f3, r2, o3), u2.__ = u2.__e = null, r2.__e != i2 && j(r2));
}
function j(n2) {
  if ((n2 = n2.__) && n2.__c && !n2.props.__P) return n2.__e = null, n2.__k.some(function(t2) {
    return t2 && (n2.__e = t2.__e);
  }), j(n2);
}
function L(t2) {
  (8 & t2.__g || (t2.__g |= 8, u.push(t2), f++)) && i == n.debounceRendering || ((i = n.debounceRendering) || queueMicrotask)(H);
}
function H() {
  try {
    for (var n2, t2 = 1; u.length; ) u.length > t2 && u.sort(o), n2 = u.shift(), t2 = u.length, 8 & n2.__g && C(n2);
  } finally {
    (f = u.length) && (i || queueMicrotask)(H);
  }
}
function I(n2, t2, r2, u2, i2, f3, o3, e2, l4, c2, a3) {
  var s2, h2, v3, w3, d2, _3, g3 = u2.__k || y, k = t2.length;
  for (l4 = q(r2, t2, g3, l4, k), s2 = 0; s2 < k; s2++) null != (v3 = r2.__k[s2]) && (h2 = ~v3.__i && g3[v3.__i] || p, v3.__i = s2, _3 = z(n2, v3, h2, i2, f3, o3, e2, l4, c2, a3), w3 = v3.__e, (h2.ref != v3.ref || 8 & h2.__u) && (h2.ref && G(h2.ref, null, v3, h2), v3.ref && a3.push(v3.ref, v3.__c || w3, v3)), d2 = d2 || w3, 4 & v3.__u ? (l4 = A(v3, l4, n2, !h2.__v), h2.__e && (h2.__e = null)) : "function" == typeof v3.type && void 0 !== _3 ? l4 = _3 : w3 && (l4 = w3.nextSibling), v3.__u &= -21);
  return r2.__e = d2, l4;
}
function q(n2, t2, r2, u2, i2) {
  var f3, o3, e2, l4, c2, a3, s2, p2, y3, v3 = r2.length, d2 = v3, _3 = 0, g3 = 0, k = n2.__k = Array(i2);
  for (f3 = 0; f3 < i2; f3++) null != (o3 = t2[f3]) && "boolean" != typeof o3 && "function" != typeof o3 ? ("object" != typeof o3 || o3.constructor === String ? o3 = k[f3] = m(null, o3) : w(o3) ? o3 = k[f3] = m($, { children: o3 }) : o3.constructor === h && o3.__b ? o3 = k[f3] = m(o3.type, o3.props, o3.key, o3.ref, o3.__v) : k[f3] = o3, l4 = f3 + _3, o3.__ = n2, o3.__b = n2.__b + 1, e2 = null, ~(c2 = o3.__i = P(o3, r2, l4, d2)) && (d2--, (e2 = r2[c2]) && (e2.__u |= 2)), e2 && e2.__v ? (o3.__u |= 16, c2 == l4 - 1 ? _3-- : c2 == l4 + 1 ? _3++ : c2 != l4 && (c2 > l4 ? _3-- : _3++, g3 = 1)) : (~c2 || (i2 > v3 ? _3-- : i2 < v3 && _3++), "function" != typeof o3.type && (o3.__u |= 4))) : k[f3] = null;
  if (g3) {
    for (a3 = [], s2 = [], f3 = 0; f3 < i2; f3++) if ((o3 = k[f3]) && 16 & o3.__u) {
      for (_3 = 0, p2 = a3.length; _3 < p2; ) a3[y3 = _3 + p2 >> 1] < o3.__i ? _3 = y3 + 1 : p2 = y3;
      a3[_3] = o3.__i, s2[f3] = _3 + 1;
    }
    for (_3 = a3.length; f3--; ) s2[f3] && (s2[f3] == _3 ? _3-- : k[f3].__u |= 4);
  }
  if (d2) for (f3 = 0; f3 < v3; f3++) !(e2 = r2[f3]) || 2 & e2.__u || (e2.__e == u2 && (u2 = S(e2)), J(e2, e2));
  return u2;
}
function A(n2, t2, r2, u2) {
  var i2, f3, o3, e2;
  if ("function" == typeof n2.type) {
    if (n2.props.__P) return t2;
    if (i2 = n2.__k) for (f3 = 0; f3 < i2.length; f3++) i2[f3] && (i2[f3].__ = n2, t2 = A(i2[f3], t2, r2, false));
    return t2;
  }
  for (t2 && !t2.parentNode && (t2 = S(n2)) && !t2.parentNode && (t2 = null), o3 = n2.__e, e2 = t2; e2 && 8 == e2.nodeType; ) e2 = e2.nextSibling;
  for (o3 != e2 && (!u2 && r2.moveBefore && o3.parentNode ? r2.moveBefore(o3, t2) : r2.insertBefore(o3, t2 || null)), t2 = o3; (t2 = t2 && t2.nextSibling) && 8 == t2.nodeType && !t2.data.startsWith("$s"); ) ;
  return t2;
}
function P(n2, t2, r2, u2) {
  var i2, f3 = n2.key, o3 = n2.type, e2 = t2[r2], l4 = e2 && !(2 & e2.__u);
  if (null === e2 && null == f3 || l4 && f3 == e2.key && o3 == e2.type) return r2;
  if (u2 > (l4 ? 1 : 0)) {
    for (i2 = r2 - 1; i2 >= 0; i2--) if ((e2 = t2[i2]) && !(2 & e2.__u) && f3 == e2.key && o3 == e2.type) return i2;
    for (i2 = r2 + 1; i2 < t2.length; i2++) if ((e2 = t2[i2]) && !(2 & e2.__u) && f3 == e2.key && o3 == e2.type) return i2;
  }
  return -1;
}
function T(n2, t2, r2) {
  null == r2 && (r2 = ""), "-" == t2[0] ? n2.setProperty(t2, r2) : n2[t2] = r2;
}
function N(n2, t2, r2, u2, i2) {
  var f3, o3;
  if ("style" == t2) if ("string" == typeof r2) n2.style.cssText = r2;
  else {
    if ("string" == typeof u2 && (n2.style.cssText = u2 = ""), u2) for (t2 in u2) r2 && t2 in r2 || T(n2.style, t2);
    if (r2) for (t2 in r2) u2 && r2[t2] == u2[t2] || T(n2.style, t2, r2[t2]);
  }
  else if ("o" == t2[0] && "n" == t2[1]) "function" != typeof r2 && (r2 = null), "function" != typeof u2 && (u2 = null), (n2.__e || (n2.__e = {}))[t2] = r2, r2 && u2 || (o3 = a[t2] || (a[t2] = V(t2)), (n2.__a || (n2.__a = {}))[t2] = c, f3 = t2 != (t2 = t2.replace(l, "$1")), (t2 = t2.slice(2))[0] < "a" && (t2 = t2.toLowerCase()), r2 ? n2.addEventListener(t2, o3, f3) : n2.removeEventListener(t2, o3, f3));
  else {
    if ("http://www.w3.org/2000/svg" == i2) t2 = t2.replace(/xlink(H|:h)/, "h").replace(/sName$/, "s");
    else if ("width" != t2 && "height" != t2 && "href" != t2 && "list" != t2 && "form" != t2 && "tabIndex" != t2 && "download" != t2 && "rowSpan" != t2 && "colSpan" != t2 && "role" != t2 && "popover" != t2 && t2 in n2) try {
      return void (n2[t2] = null == r2 ? "" : r2);
    } catch (n3) {
    }
    if ("function" == typeof r2) return;
    null == r2 || false === r2 && "-" != t2[4] ? n2.removeAttribute(t2) : n2.setAttribute(t2, "popover" == t2 && 1 == r2 ? "" : r2);
  }
}
function V(t2) {
  return function(r2) {
    var u2 = this.__e;
    if (u2) {
      if (u2 = u2[t2], null == r2[e]) r2[e] = c++;
      else if (r2[e] < this.__a[t2]) return;
      return u2(n.event ? n.event(r2) : r2);
    }
  };
}
function z(t2, r2, u2, i2, f3, o3, e2, l4, c2, a3) {
  var s2, p2, v3, d2, k, b, m2, M3, C3, j2, L3, H2, q3, A3, O2, P3, T2, N3, V3 = r2.type;
  if (r2.constructor !== h) return null;
  128 & u2.__u && (c2 = 32 & u2.__u, s2 = u2.__c.__z) && (r2.__u |= c2, p2 = o3 = [], 8 == s2.nodeType ? l4 = B(s2, o3) : o3.push(s2), l4 = o3[0] || l4), (s2 = n.__b) && s2(r2);
  n: if ("function" == typeof V3) {
    v3 = e2.length;
    try {
      if (M3 = r2.props, C3 = (s2 = V3.prototype) && s2.render, j2 = (s2 = V3.contextType) && i2[s2.__c], L3 = s2 ? j2 ? j2.props.value : s2.__ : i2, (d2 = u2.__c) ? (r2.__c = d2, 2 & d2.__g && (d2.__g |= 1)) : (C3 ? r2.__c = d2 = new V3(M3, L3) : (r2.__c = d2 = new x(M3, L3), d2.constructor = V3, d2.render = K), j2 && j2.sub(d2), d2.state || (d2.state = {}), d2.__n = i2, d2.__g |= 8, d2.__h = [], d2.__k = []), C3 && (d2.__s || (d2.__s = d2.state), V3.getDerivedStateFromProps && (d2.__s == d2.state && (d2.__s = _({}, d2.__s)), _(d2.__s, V3.getDerivedStateFromProps(M3, d2.__s)))), k = d2.props, b = d2.state, d2.__v = r2, u2.__c) {
        if (M3 !== k && C3 && !V3.getDerivedStateFromProps && d2.componentWillReceiveProps && d2.componentWillReceiveProps(M3, L3), r2.__v == u2.__v && !(8 & d2.__g) || !(4 & d2.__g) && d2.shouldComponentUpdate && false === d2.shouldComponentUpdate(M3, d2.__s, L3)) {
          r2.__v != u2.__v && (d2.props = M3, d2.state = d2.__s, d2.__g &= -9), r2.__e = u2.__e, r2.__k = u2.__k, r2.__k.some(function(n2) {
            n2 && (n2.__ = r2);
          }), y.push.apply(d2.__h, d2.__k), d2.__k = [], d2.__h.length && e2.push(d2), l4 = S(u2);
          break n;
        }
        d2.componentWillUpdate && d2.componentWillUpdate(M3, d2.__s, L3), C3 && d2.componentDidUpdate && d2.__h.push(function() {
          d2.componentDidUpdate(k, b, m2);
        });
      } else C3 && !V3.getDerivedStateFromProps && d2.componentWillMount && d2.componentWillMount(), C3 && d2.componentDidMount && d2.__h.push(d2.componentDidMount);
      d2.context = L3, d2.props = M3, d2.__P = t2, d2.__g &= -5, H2 = n.__r, q3 = C3 ? 25 : 0;
      do {
        d2.__g &= -9, H2 && H2(r2), s2 = d2.render(d2.props, d2.state = d2.__s, d2.context);
      } while (8 & d2.__g && ++q3 < 25);
      C3 && (y.push.apply(d2.__h, d2.__k), d2.__k = []), d2.state = d2.__s, d2.getChildContext && (i2 = _({}, i2, d2.getChildContext())), C3 && u2.__c && d2.getSnapshotBeforeUpdate && (m2 = d2.getSnapshotBeforeUpdate(k, b)), A3 = s2 && s2.type === $ && null == s2.key ? s2.props.children : s2, M3.__P && (s2 = l4, f3 = (t2 = M3.__P).namespaceURI, c2 = o3 = null, u2.props && u2.props.__P != t2 && (u2.__k.some(function(n2) {
        n2 && J(n2, n2);
      }), u2.__k = null), l4 = u2.__k ? S(u2, 0) : null), l4 = I(t2, w(A3) ? A3 : [A3], r2, u2, i2, f3, o3, e2, l4, c2, a3), M3.__P && (r2.__e = null, l4 = s2), r2.__u &= -161, p2 && p2.some(g), d2.__h.length && e2.push(d2), 1 & d2.__g && (d2.__g &= -4);
    } catch (t3) {
      if (e2.length = v3, r2.__v = null, c2 || o3) if (t3 && t3.then) {
        if (r2.__u |= 128 | c2, o3) {
          for (~(T2 = o3.indexOf(l4 || void 0)) || (T2 = o3.length); (N3 = o3[T2 - 1]) && 8 == N3.nodeType; ) T2--;
          for (; T2 < o3.length; T2++) if (N3 = o3[T2]) if (o3[T2] = null, O2) {
            if (N3 == P3) break;
          } else {
            if (8 != N3.nodeType) break;
            N3.data.startsWith("$s") && (P3 = B(O2 = N3));
          }
        }
        if (!O2) {
          for (; l4 && 8 == l4.nodeType && l4.nextSibling; ) l4 = l4.nextSibling;
          O2 = l4;
        }
        (s2 = B(O2 = r2.__c.__z || (r2.__c.__z = O2))) ? (r2.__e = O2, l4 = s2) : r2.__e = l4, l4 = l4 && l4.nextSibling;
      } else o3 && o3.some(g);
      else r2.__e = u2.__e;
      r2.__k || (r2.__k = u2.__k || []), t3 && t3.then || D(r2), n.__e(t3, r2, u2);
    }
  } else l4 = r2.__e = F(u2.__e, r2, u2, i2, f3, o3, e2, c2, a3, t2);
  return (s2 = n.diffed) && s2(r2), l4;
}
function B(n2, t2) {
  if (n2 && 8 == n2.nodeType && n2.data.startsWith("$s")) for (var r2 = 1; n2 = n2.nextSibling; ) {
    if (8 == n2.nodeType) {
      if (n2.data.startsWith("$s")) r2++;
      else if (n2.data.startsWith("/$s") && !--r2) return n2;
    }
    t2 && t2.push(n2);
  }
}
function D(n2) {
  n2 && (n2.__c && (n2.__c.__g |= 4), n2.__k && n2.__k.some(D));
}
function E(t2, r2, u2) {
  for (var i2 = 0; i2 < u2.length; ) G(u2[i2++], u2[i2++], u2[i2++]);
  n.__c && n.__c(r2, t2), t2.some(function(r3) {
    try {
      t2 = r3.__h, r3.__h = [], t2.some(function(n2) {
        n2.call(r3);
      });
    } catch (t3) {
      n.__e(t3, r3.__v);
    }
  });
}
function F(t2, r2, u2, i2, f3, o3, e2, l4, c2, a3) {
  var s2, h2, y3, _3, k, b, m2, M3, $2 = u2.props || p, x3 = r2.props, C3 = r2.type;
  if ("svg" == C3 ? f3 = "http://www.w3.org/2000/svg" : "math" == C3 ? f3 = "http://www.w3.org/1998/Math/MathML" : f3 || (f3 = "http://www.w3.org/1999/xhtml"), o3) {
    for (s2 = 0; s2 < o3.length; s2++) if ((k = o3[s2]) && (C3 ? k.localName == C3 : 3 == k.nodeType)) {
      t2 = k, o3[s2] = null;
      break;
    }
  }
  if (!t2) {
    if (M3 = a3.ownerDocument || document, !C3) return M3.createTextNode(x3);
    t2 = M3.createElementNS(f3, C3, x3.is ? x3 : a3), l4 && (n.__m && n.__m(r2, o3), l4 = false), o3 = null;
  }
  if (C3) {
    if (a3 = "template" == C3 && t2.content || t2, o3 = "textarea" == C3 && null != x3.defaultValue ? null : o3 && d.call(a3.childNodes), !l4 && o3) for ($2 = {}, s2 = 0; s2 < t2.attributes.length; s2++) $2[(k = t2.attributes[s2]).name] = k.value;
    for (s2 in $2) k = $2[s2], "dangerouslySetInnerHTML" == s2 ? y3 = k : "children" == s2 || s2 in x3 || "value" == s2 && "defaultValue" in x3 || "checked" == s2 && "defaultChecked" in x3 || N(t2, s2, null, k, f3);
    for (s2 in x3) k = x3[s2], "children" == s2 ? _3 = k : "dangerouslySetInnerHTML" == s2 ? h2 = k : "value" == s2 ? b = k : "checked" == s2 ? m2 = k : l4 && "function" != typeof k || $2[s2] === k || N(t2, s2, k, $2[s2], f3);
    h2 ? (l4 || y3 && (h2.__html == y3.__html || h2.__html == t2.innerHTML) || (t2.innerHTML = h2.__html), r2.__k = []) : (y3 && (t2.textContent = ""), ("foreignObject" == C3 || "http://www.w3.org/1998/Math/MathML" == f3 && v.test(C3)) && (f3 = "http://www.w3.org/1999/xhtml"), I(a3, w(_3) ? _3 : [_3], r2, u2, i2, f3, o3, e2, o3 ? o3[0] : u2.__k && S(u2, 0), l4, c2), o3 && o3.some(g)), l4 && "textarea" != C3 || (s2 = "value", "progress" == C3 && null == b ? t2.removeAttribute(s2) : null == b || b === t2[s2] && ("progress" != C3 || b) || N(t2, s2, b, $2[s2], f3), s2 = "checked", null != m2 && m2 != t2[s2] && N(t2, s2, m2, $2[s2], f3));
  } else $2 === x3 || l4 && t2.data == x3 || (t2.data = x3);
  return t2;
}
function G(t2, r2, u2, i2) {
  try {
    "function" == typeof t2 ? r2 ? r2.__x = t2(r2) || 1 : i2 && (i2 = i2.__c || i2.__e) && (r2 = i2.__x) && (i2.__x = null, "function" == typeof r2 ? r2() : t2(null)) : t2.current = r2;
  } catch (t3) {
    n.__e(t3, u2);
  }
}
function J(t2, r2, u2) {
  var i2, f3, o3, e2;
  if (n.unmount && n.unmount(t2), !(i2 = t2.ref) || i2.current && i2.current != t2.__e || G(i2, null, r2, t2), i2 = t2.__c) {
    if (i2.componentWillUnmount) try {
      i2.componentWillUnmount();
    } catch (t3) {
      n.__e(t3, r2);
    }
    i2.__P = i2.__n = null;
  }
  if (i2 = t2.__k) for (e2 = 0; e2 < i2.length; e2++) i2[e2] && J(i2[e2], r2, "function" != typeof t2.type || u2 && !t2.props.__P);
  !u2 && (i2 = t2.__c) && (i2 = i2.__z) && (f3 = B(i2, o3 = [])) && (i2 == t2.__e && o3.some(g), g(f3), g(i2)), u2 || g(t2.__e), t2.__e = t2.__c = t2.__ = null;
}
function K(n2, t2, r2) {
  return this.constructor(n2, r2);
}
function Q(t2, r2) {
  var u2, i2, f3, o3;
  n.__ && n.__(t2, r2), 9 == r2.nodeType && (r2 = r2.documentElement), i2 = (u2 = t2 && 32 & t2.__u) ? null : r2.__k, r2.__k = m($, { children: [t2] }), f3 = [], o3 = [], z(r2, r2.__k, i2 || p, p, r2.namespaceURI, i2 ? null : r2.firstChild ? d.call(r2.childNodes) : null, f3, i2 ? i2.__e : r2.firstChild, u2, o3), E(f3, r2.__k, o3), r2.__k.props.children = null;
}
n = { __e: function(n2, t2, r2, u2) {
  for (var i2, o3, e2; t2 = t2.__; ) if ((i2 = t2.__c) && !(1 & i2.__g)) {
    i2.__g |= 4;
    try {
      if ((e2 = (o3 = i2.constructor) && o3.getDerivedStateFromError) && i2.setState(o3.getDerivedStateFromError(n2)), i2.componentDidCatch && (i2.componentDidCatch(n2, u2 || {}), e2 = 1), e2 && 8 & i2.__g) return void (i2.__g |= 2);
    } catch (t3) {
      n2 = t3;
    }
  }
  throw f = 0, n2;
} }, t = 0, r = function(n2) {
  return null != n2 && n2.constructor === h;
}, x.prototype.setState = function(n2, t2) {
  var r2 = this.__s;
  r2 && r2 != this.state || (r2 = this.__s = _({}, this.state)), "function" == typeof n2 && (n2 = n2(_({}, r2), this.props)), n2 && (_(r2, n2), this.__v && (t2 && this.__k.push(t2), L(this)));
}, x.prototype.forceUpdate = function(n2) {
  this.__v && (this.__g |= 4, n2 && this.__h.push(n2), L(this));
}, x.prototype.render = $, u = [], f = 0, o = function(n2, t2) {
  return n2.__v.__b - t2.__v.__b;
}, e = /* @__PURE__ */ Symbol(), l = /(PointerCapture)$|Capture$/i, c = 0, a = {}, s = 0;

// src/store/state.ts
var LIMITS = {
  messagesKept: 1500,
  charactersKept: 24e6,
  sessionsKept: 2e3,
  turnsKept: 2e3,
  interactionsKept: 500,
  pendingKept: 5e3,
  removedKept: 1e3,
  problemsKept: 4,
  draftsKept: 50,
  commandsKept: 50,
  excerptsAsked: 200,
  page: 50
};
var EMPTY_LIST = {
  phase: "loading",
  items: [],
  cursor: null,
  loadingMore: false,
  pending: /* @__PURE__ */ new Map(),
  roots: /* @__PURE__ */ new Map(),
  removed: /* @__PURE__ */ new Map()
};
function initialState(workspaceId) {
  return {
    workspaceId,
    connection: { phase: "no_token" },
    server: null,
    head: null,
    subscriptionId: null,
    shutdown: false,
    targets: [],
    health: null,
    list: EMPTY_LIST,
    open: null,
    commands: [],
    reads: /* @__PURE__ */ new Map(),
    nextId: 1,
    problems: [],
    drafts: /* @__PURE__ */ new Map(),
    creating: false,
    announcement: ""
  };
}
function interactionKey(row) {
  return `${row.agentSessionId}/${row.turnId}/${row.requestId}`;
}
function withEntry(map, key, value, most) {
  const grown = new Map(map);
  grown.set(key, value);
  for (const oldest of grown.keys()) {
    if (grown.size <= most) break;
    grown.delete(oldest);
  }
  return grown;
}
function withoutEntry(map, key) {
  if (!map.has(key)) return map;
  const smaller = new Map(map);
  smaller.delete(key);
  return smaller;
}

// src/store/requests.ts
function still(state) {
  return { state, effects: [] };
}
function then(step, next) {
  const following = next(step.state);
  return { state: following.state, effects: [...step.effects, ...following.effects] };
}
function requested(state, read, method, params) {
  const id = state.nextId;
  const reads = new Map(state.reads).set(id, read);
  return { state: { ...state, nextId: id + 1, reads }, effects: [{ type: "request", id, method, params }] };
}
function commanded(state, method, params) {
  const key = JSON.stringify([method, params]);
  const isRepeated = state.commands.some((one) => JSON.stringify([one.method, one.params]) === key);
  if (isRepeated || state.commands.length >= LIMITS.commandsKept) return still(state);
  const id = state.nextId;
  const command = { id, method, params };
  const next = { ...state, nextId: id + 1, commands: [...state.commands, command] };
  return { state: next, effects: state.connection.phase === "open" ? [{ type: "request", id, method, params }] : [] };
}
function isReading(state, wanted) {
  const key = JSON.stringify(wanted);
  return [...state.reads.values()].some((read) => JSON.stringify(read) === key);
}
function withProblem(state, { what, next }) {
  const problem = { id: state.nextId, what, next };
  const others = state.problems.filter((one) => one.what !== what);
  return { ...state, nextId: state.nextId + 1, problems: [...others, problem].slice(-LIMITS.problemsKept) };
}

// src/store/session_list.ts
var EXCERPT_CHARACTERS = 80;
function withPage(list, reply, first) {
  const held = new Map(list.items.map((item) => [item.session.agentSessionId, item]));
  const page = reply.items.filter((item) => (list.removed.get(item.agentSessionId) ?? -1) <= reply.commitSeq).map(({ activity, ...session }) => {
    const known = held.get(session.agentSessionId);
    held.delete(session.agentSessionId);
    if (known && known.commitSeq > reply.commitSeq) return known;
    const excerpt = known?.excerpt ?? null;
    return { session, commitSeq: reply.commitSeq, turnId: activity.turnId, phase: activity.phase, excerpt };
  });
  const newer = list.items.filter((item) => held.has(item.session.agentSessionId) && item.commitSeq > reply.commitSeq);
  const items = first ? [...newer, ...page] : [...list.items.filter((item) => held.has(item.session.agentSessionId)), ...page];
  const full = items.length >= LIMITS.sessionsKept;
  return {
    ...list,
    phase: "ready",
    loadingMore: false,
    items: pinnedFirst(items).slice(0, LIMITS.sessionsKept),
    cursor: full ? null : reply.nextCursor
  };
}
function withPending(list, reply, first) {
  const start = first ? { ...list, pending: /* @__PURE__ */ new Map() } : list;
  return reply.items.reduce(withInteraction, start);
}
function withChange(list, change, commitSeq) {
  switch (change.type) {
    case "session":
    case "session_restored":
      return withSession(list, change.row, commitSeq);
    case "session_removed":
      return withoutSession(list, change.row.agentSessionId, commitSeq);
    case "turn":
      return withTurn(list, change.row);
    case "interaction":
      return withInteraction(list, change.row);
    case "message":
      return withFirstPrompt(list, change.row);
    default:
      return list;
  }
}
function withActivity(list, event) {
  return replaced(list, event.agentSessionId, (item) => ({
    ...item,
    session: { ...item.session, runtime: { state: event.runtimeState, lastActivityAt: event.lastActivityAt } }
  }));
}
function withExcerpt(list, messages) {
  const prompt = messages.find((message) => message.role === "user");
  return prompt ? withFirstPrompt(list, prompt) : list;
}
function withRoot(list, session) {
  const root2 = session.parent?.rootAgentSessionId;
  if (!root2 || root2 === session.agentSessionId) return list;
  return { ...list, roots: withEntry(list.roots, session.agentSessionId, root2, LIMITS.pendingKept) };
}
function pendingCounts(list) {
  const counts = /* @__PURE__ */ new Map();
  for (const [agentSessionId, keys] of list.pending) {
    const root2 = list.roots.get(agentSessionId) ?? agentSessionId;
    counts.set(root2, (counts.get(root2) ?? 0) + keys.size);
  }
  return counts;
}
function unpins(list, change) {
  if (change.type !== "session" || change.row.pinned) return false;
  return list.items.some((item) => item.session.agentSessionId === change.row.agentSessionId && item.session.pinned);
}
function isListed(list, agentSessionId) {
  return list.items.some((item) => item.session.agentSessionId === agentSessionId);
}
function withoutTitle(list, agentSessionIds) {
  const asked = new Set(agentSessionIds);
  return list.items.slice(0, LIMITS.excerptsAsked).filter((item) => asked.has(item.session.agentSessionId) && !item.session.title && item.excerpt === null).map((item) => item.session.agentSessionId);
}
function withSession(list, session, commitSeq) {
  if (session.parent && session.parent.rootAgentSessionId !== session.agentSessionId) return withRoot(list, session);
  const held = list.items.find((item2) => item2.session.agentSessionId === session.agentSessionId);
  if (held) {
    if (held.commitSeq >= commitSeq) return list;
    const next = { ...held, session: { ...session, runtime: held.session.runtime }, commitSeq };
    const moved = held.session.pinned !== session.pinned;
    const rest = list.items.filter((item2) => item2 !== held);
    return { ...list, items: moved ? pinnedFirst([next, ...rest]) : list.items.map((item2) => item2 === held ? next : item2) };
  }
  const newest2 = Math.max(0, ...list.items.map((item2) => item2.session.createdAt));
  if (list.phase === "loading" || list.cursor !== null && session.createdAt < newest2) return list;
  const item = { session, commitSeq, turnId: session.activeTurnId, phase: null, excerpt: null };
  return { ...list, items: pinnedFirst([item, ...list.items]).slice(0, LIMITS.sessionsKept) };
}
function withoutSession(list, agentSessionId, commitSeq) {
  return {
    ...list,
    items: list.items.filter((item) => item.session.agentSessionId !== agentSessionId),
    pending: withoutEntry(list.pending, agentSessionId),
    removed: withEntry(list.removed, agentSessionId, commitSeq, LIMITS.removedKept)
  };
}
function withTurn(list, turn) {
  if (turn.phase === "settled") {
    return replaced(list, turn.agentSessionId, (item) => item.turnId === turn.turnId ? { ...item, turnId: null, phase: null } : item);
  }
  const held = list.items.find((item) => item.session.agentSessionId === turn.agentSessionId);
  if (!held) return list;
  const next = { ...held, turnId: turn.turnId, phase: turn.phase };
  const begins = held.turnId !== turn.turnId || held.phase === null;
  if (!begins || held.session.pinned) return replaced(list, turn.agentSessionId, () => next);
  return { ...list, items: pinnedFirst([next, ...list.items.filter((item) => item !== held)]) };
}
function withInteraction(list, row) {
  const held = list.pending.get(row.agentSessionId) ?? /* @__PURE__ */ new Set();
  const key = interactionKey(row);
  if (row.status === "pending" === held.has(key)) return list;
  const next = new Set(held);
  if (row.status === "pending") next.add(key);
  else next.delete(key);
  const pending = next.size > 0 ? withEntry(list.pending, row.agentSessionId, next, LIMITS.pendingKept) : withoutEntry(list.pending, row.agentSessionId);
  return { ...list, pending };
}
function withFirstPrompt(list, message) {
  if (message.role !== "user") return list;
  return replaced(
    list,
    message.agentSessionId,
    (item) => item.excerpt === null && !item.session.title ? { ...item, excerpt: excerptOf(message) } : item
  );
}
function excerptOf(message) {
  const blocks2 = message.content.map((block) => block.type === "text" ? block.text : "");
  const text = (message.displayPrompt ?? blocks2.join(" ")).slice(0, 10 * EXCERPT_CHARACTERS).replace(/\s+/g, " ").trim();
  return text.length > EXCERPT_CHARACTERS ? `${text.slice(0, EXCERPT_CHARACTERS).trimEnd()}…` : text;
}
function replaced(list, agentSessionId, change) {
  const index = list.items.findIndex((item) => item.session.agentSessionId === agentSessionId);
  const held = list.items[index];
  if (!held) return list;
  const next = change(held);
  if (next === held) return list;
  const items = [...list.items];
  items[index] = next;
  return { ...list, items };
}
function pinnedFirst(items) {
  return [...items.filter((item) => item.session.pinned), ...items.filter((item) => !item.session.pinned)];
}

// src/store/reads.ts
var PAGE_MOST = 200;
function readList(state) {
  if (isReading(state, { kind: "list", cursor: null })) return still(state);
  const { workspaceId } = state;
  const sessions = requested(state, { kind: "list", cursor: null }, "session/list", { workspaceId, limit: LIMITS.page });
  const pending = then(sessions, (next) => readPending(next, null));
  const targets = then(pending, (next) => readTargets(next, null));
  return then(targets, (next) => requested(next, { kind: "health" }, "health/read", {}));
}
function readPending(state, cursor) {
  const params = { workspaceId: state.workspaceId, status: "pending", cursor, limit: PAGE_MOST };
  return requested(state, { kind: "pending", first: cursor === null }, "interaction/list", params);
}
function readTargets(state, cursor) {
  return requested(state, { kind: "targets", first: cursor === null }, "target/list", { cursor, limit: PAGE_MOST });
}
function subscribe(state, agentSessionId) {
  const { workspaceId } = state;
  const read = { kind: "follow", agentSessionId };
  const topics = ["agent.activity.updated"];
  return requested(state, read, "events/subscribe", { workspaceId, topics, agentSessionIds: [agentSessionId], deltas: "all" });
}
function unsubscribe(state, subscriptionId) {
  if (subscriptionId === null || state.connection.phase !== "open") return still(state);
  return requested(state, { kind: "unfollow" }, "events/unsubscribe", { subscriptionId });
}
function follow(state, agentSessionId) {
  return then(subscribe(state, agentSessionId), (next) => readSession(next, agentSessionId));
}
function readSession(state, agentSessionId) {
  const key = { workspaceId: state.workspaceId, agentSessionId };
  const session = requested(state, { kind: "session", agentSessionId }, "session/get", key);
  return then(session, (next) => readNewest(next, agentSessionId));
}
function readNewest(state, agentSessionId) {
  const window2 = { beforeSequence: Number.MAX_SAFE_INTEGER, limit: 2 * LIMITS.page };
  const params = { workspaceId: state.workspaceId, agentSessionId, ...window2 };
  return requested(state, { kind: "newest", agentSessionId }, "session/messages", params);
}
function readOlder(state) {
  const { open } = state;
  const oldest = open?.messages[0];
  if (!open?.hasOlder || open.loadingOlder || !oldest || state.connection.phase !== "open") return still(state);
  const { agentSessionId } = open;
  const window2 = { beforeSequence: oldest.sequence, limit: 2 * LIMITS.page };
  const params = { workspaceId: state.workspaceId, agentSessionId, ...window2 };
  return requested({ ...state, open: { ...open, loadingOlder: true } }, { kind: "older", agentSessionId }, "session/messages", params);
}
function readTurns(state) {
  const { open } = state;
  if (!open || open.turnsCursor === null) return still(state);
  const { agentSessionId, turnsCursor } = open;
  const params = { workspaceId: state.workspaceId, agentSessionId, cursor: turnsCursor, limit: PAGE_MOST };
  return requested(state, { kind: "turns", agentSessionId }, "turn/list", params);
}
function repair(state, agentSessionId, messageId) {
  const read = { kind: "repair", agentSessionId, messageId };
  if (isReading(state, read)) return still(state);
  const params = { workspaceId: state.workspaceId, agentSessionId, messageIds: [messageId] };
  return requested(state, read, "session/messages", params);
}
function readAncestor(state, agentSessionId) {
  const read = { kind: "ancestor", agentSessionId };
  if (isReading(state, read)) return still(state);
  const params = { workspaceId: state.workspaceId, agentSessionId, projection: "summary" };
  return requested(state, read, "session/get", params);
}
function readExcerpts(state, agentSessionIds) {
  let step = still(state);
  for (const agentSessionId of withoutTitle(state.list, agentSessionIds)) {
    const params = { workspaceId: state.workspaceId, agentSessionId, afterVersion: 0, limit: 1 };
    step = then(step, (next) => requested(next, { kind: "excerpt", agentSessionId }, "session/messages", params));
  }
  return step;
}
function sendAgain(state, commands) {
  return { state, effects: commands.map(({ id, method, params }) => ({ type: "request", id, method, params })) };
}

// src/store/transcript.ts
function opening(agentSessionId) {
  return {
    agentSessionId,
    phase: "loading",
    failure: null,
    subscriptionId: null,
    session: null,
    turns: /* @__PURE__ */ new Map(),
    turnsCursor: null,
    interactions: /* @__PURE__ */ new Map(),
    children: /* @__PURE__ */ new Map(),
    messages: [],
    hasOlder: false,
    hasNewer: false,
    loadingOlder: false,
    outgoing: []
  };
}
function withSessionRead(open, reply) {
  let next = { ...open, session: stamped(open.session, reply.session, reply.commitSeq) };
  if (open.turnsCursor === null || open.turns.size === 0) next = { ...next, turnsCursor: reply.turnsCursor };
  for (const turn of [...reply.turns].reverse()) next = withTurn2(next, turn, reply.commitSeq);
  if (reply.activeTurn) next = withTurn2(next, reply.activeTurn, reply.commitSeq);
  for (const row of reply.interactions) next = withInteraction2(next, row, reply.commitSeq);
  return { ...next, children: new Map(reply.children.map((child) => [child.agentSessionId, child])) };
}
function withNewest(open, reply) {
  const held = new Map(open.messages.map((message) => [message.messageId, message]));
  const window2 = reply.messages.map((message) => newest(held.get(message.messageId), message));
  const last = window2.at(-1)?.sequence ?? -1;
  const later = open.hasNewer ? [] : open.messages.filter((message) => message.version > reply.messageVersion && message.sequence > last);
  const messages = [...window2, ...later];
  const next = { ...open, phase: "ready", messages, hasOlder: reply.hasMore, hasNewer: false, loadingOlder: false };
  return messages.reduce(withoutOutgoing, trimmed(next, "oldest"));
}
function withOlder(open, reply) {
  const oldest = open.messages[0]?.sequence ?? Number.MAX_SAFE_INTEGER;
  const older = reply.messages.filter((message) => message.sequence < oldest);
  return trimmed({ ...open, messages: [...older, ...open.messages], hasOlder: reply.hasMore, loadingOlder: false }, "newest");
}
function withChange2(open, change, commitSeq) {
  switch (change.type) {
    case "session":
    case "session_restored": {
      if (change.row.agentSessionId !== open.agentSessionId) {
        return change.row.parent?.rootAgentSessionId === open.agentSessionId ? { ...open, children: withEntry(open.children, change.row.agentSessionId, change.row, LIMITS.turnsKept) } : open;
      }
      const runtime = open.session?.row.runtime ?? change.row.runtime;
      return { ...open, session: stamped(open.session, { ...change.row, runtime }, commitSeq) };
    }
    case "session_removed":
      return change.row.agentSessionId === open.agentSessionId ? { ...open, phase: "deleted" } : open;
    case "turn":
      return change.row.agentSessionId === open.agentSessionId ? withTurn2(open, change.row, commitSeq) : open;
    case "interaction":
      return isOf(open, change.row.agentSessionId) ? withInteraction2(open, change.row, commitSeq) : open;
    case "message":
      return change.row.agentSessionId === open.agentSessionId ? withMessage(open, change.row) : open;
    default:
      return open;
  }
}
function withActivity2(open, event) {
  if (event.agentSessionId !== open.agentSessionId || !open.session) return open;
  const runtime = { state: event.runtimeState, lastActivityAt: event.lastActivityAt };
  return { ...open, session: { ...open.session, row: { ...open.session.row, runtime } } };
}
function withMessage(open, row) {
  const index = open.messages.findLastIndex((message) => message.messageId === row.messageId);
  const held = open.messages[index];
  if (held) {
    const next = newest(held, row);
    return next === held ? open : { ...open, messages: open.messages.with(index, next) };
  }
  const last = open.messages.at(-1)?.sequence ?? -1;
  const first = open.messages[0]?.sequence ?? -1;
  if (row.sequence > last) {
    if (open.hasNewer) return withoutOutgoing(open, row);
    return withoutOutgoing(trimmed({ ...open, messages: [...open.messages, row] }, "oldest"), row);
  }
  if (row.sequence < first && open.hasOlder) return open;
  const place = open.messages.findIndex((message) => message.sequence > row.sequence);
  return withoutOutgoing({ ...open, messages: open.messages.toSpliced(place, 0, row) }, row);
}
function withDelta(open, delta) {
  const index = open.messages.findLastIndex((message) => message.messageId === delta.messageId);
  const held = open.messages[index];
  if (!held) return open.hasNewer || open.hasOlder || open.phase !== "ready" ? open : null;
  if (held.deltaSeq === null || delta.deltaSeq < held.deltaSeq) return open;
  if (delta.deltaSeq > held.deltaSeq) return null;
  return { ...open, messages: open.messages.with(index, { ...appended(held, delta), deltaSeq: held.deltaSeq + 1 }) };
}
function withTurn2(open, turn, commitSeq) {
  const next = stamped(open.turns.get(turn.turnId) ?? null, turn, commitSeq);
  let changed = { ...open, turns: withEntry(open.turns, turn.turnId, next, LIMITS.turnsKept) };
  if (turn.retractedAt !== null) {
    changed = { ...changed, messages: open.messages.filter((message) => message.turnId !== turn.turnId) };
  }
  return changed;
}
function withInteraction2(open, row, commitSeq) {
  const key = interactionKey(row);
  const next = stamped(open.interactions.get(key) ?? null, row, commitSeq);
  return { ...open, interactions: withEntry(open.interactions, key, next, LIMITS.interactionsKept) };
}
function unsettledTurn(open) {
  let found = null;
  for (const { row } of open.turns.values()) {
    if (row.phase !== "settled" && (found === null || row.sequence > found.sequence)) found = row;
  }
  return found;
}
function pendingInteractions(open) {
  return [...open.interactions.values()].map(({ row }) => row).filter((row) => row.status === "pending").sort((one, other) => one.createdAt - other.createdAt);
}
function lacksTurns(open) {
  return open.turnsCursor !== null && open.messages.some((message) => message.turnId !== null && !open.turns.has(message.turnId));
}
function isOf(open, agentSessionId) {
  return agentSessionId === open.agentSessionId || open.children.has(agentSessionId);
}
function stamped(held, row, commitSeq) {
  return held && held.commitSeq > commitSeq ? held : { row, commitSeq };
}
function newest(held, row) {
  if (!held || row.version > held.version) return row;
  if (row.version < held.version) return held;
  return contained(row) > contained(held) ? row : held;
}
function contained(message) {
  return message.deltaSeq ?? Number.POSITIVE_INFINITY;
}
function appended(message, delta) {
  if (delta.field === "output") {
    if (!message.toolCall) return message;
    const output = { ...message.toolCall.output, text: message.toolCall.output.text + delta.text };
    return { ...message, toolCall: { ...message.toolCall, output } };
  }
  const index = message.content.findIndex((block2) => block2.type === "text");
  const block = message.content[index];
  if (block?.type !== "text") return { ...message, content: [...message.content, { type: "text", text: delta.text }] };
  return { ...message, content: message.content.with(index, { ...block, text: block.text + delta.text }) };
}
function withoutOutgoing(open, row) {
  if (row.role !== "user" || row.clientSubmitId === null || open.outgoing.length === 0) return open;
  return { ...open, outgoing: open.outgoing.filter((one) => one.clientSubmitId !== row.clientSubmitId) };
}
function trimmed(open, end) {
  let characters = 0;
  let kept = 0;
  const ordered = end === "oldest" ? open.messages.toReversed() : open.messages;
  for (const message of ordered) {
    characters += size(message);
    if (kept >= LIMITS.messagesKept || characters > LIMITS.charactersKept && kept > 0) break;
    kept += 1;
  }
  if (kept === open.messages.length) return open;
  return end === "oldest" ? { ...open, messages: open.messages.slice(-kept), hasOlder: true } : { ...open, messages: open.messages.slice(0, kept), hasNewer: true };
}
function size(message) {
  let characters = message.toolCall ? message.toolCall.output.text.length : 0;
  for (const block of message.content) if (block.type === "text") characters += block.text.length;
  return characters;
}

// src/store/connection.ts
var REVOKED = 1008;
var SHUTDOWN = 1001;
var TOO_SLOW = 4001;
var RETRY_FIRST_MS = 500;
var RETRY_MOST_MS = 15e3;
function connectionLost(state, code, reachable) {
  const { connection, open } = state;
  const lost = {
    ...state,
    reads: /* @__PURE__ */ new Map(),
    subscriptionId: null,
    shutdown: false,
    list: { ...state.list, loadingMore: false },
    open: open && { ...open, subscriptionId: null, loadingOlder: false }
  };
  if (connection.phase === "refused" || connection.phase === "no_token") return still(lost);
  if (connection.phase === "connecting" && !connection.isAdmitted && reachable || connection.phase === "open" && code === REVOKED) {
    const refused2 = { ...lost, connection: { phase: "refused" } };
    return { state: refused2, effects: [{ type: "forget_token" }] };
  }
  const attempt = connection.phase === "open" ? 1 : connection.attempt + 1;
  const why = code === SHUTDOWN ? "shutdown" : code === TOO_SLOW ? "too_slow" : reachable ? "closed" : "unreachable";
  const milliseconds = Math.min(RETRY_FIRST_MS * 2 ** (attempt - 1), RETRY_MOST_MS);
  return {
    state: { ...lost, connection: { phase: "waiting", attempt, why } },
    effects: [{ type: "retry_after", milliseconds }]
  };
}
function initialized(state, server) {
  let next = { ...state, server, connection: { phase: "open", attempt: 0 } };
  if (state.head && state.head.storeId !== server.storeId) next = inAnotherStore(next);
  const resumed = next.head !== null;
  return requested(next, { kind: "subscribe", resumed }, "events/subscribe", {
    workspaceId: next.workspaceId,
    topics: ["agent.activity.updated", "host.updated"],
    deltas: "none",
    ...next.head && { storeId: next.head.storeId, afterCommitSeq: next.head.commitSeq }
  });
}
function subscribed(state, reply, resumed) {
  const storeId = state.server?.storeId ?? "";
  const whole = resumed && !reply.gap;
  const head = whole ? state.head : { storeId, commitSeq: reply.commitSeq };
  const listed = readList({ ...state, head, subscriptionId: reply.subscriptionId });
  const { open, commands } = state;
  const followed = open ? then(listed, (next) => subscribe(next, open.agentSessionId)) : listed;
  const again = open && !(whole && open.phase === "ready");
  const read = again ? then(followed, (next) => readSession(next, open.agentSessionId)) : followed;
  return then(read, (next) => sendAgain(next, commands));
}
function greetingRefused(state) {
  if (state.connection.phase !== "connecting") return still(state);
  return { state, effects: [{ type: "disconnect" }] };
}
function inAnotherStore(state) {
  const open = state.open && opening(state.open.agentSessionId);
  const next = { ...state, head: null, list: EMPTY_LIST, open, commands: [] };
  if (state.commands.length === 0) return next;
  const what = "Greenroom came back with another database, so what was on its way was not sent again.";
  return withProblem(next, { what, next: "Look at the list of sessions, then repeat it." });
}

// src/store/happenings.ts
function happened(state, event) {
  const isWhole = event.subscriptionId === state.subscriptionId;
  switch (event.type) {
    case "commit":
      return committed(isWhole ? reached(state, event.commitSeq) : state, event);
    case "checkpoint":
      return still(isWhole ? reached(state, event.commitSeq) : state);
    case "session_reset": {
      const next = isWhole ? reached(state, event.commitSeq) : state;
      const listed = isWhole ? readList(next) : still(next);
      const isOpen = state.open?.agentSessionId === event.agentSessionId;
      return isOpen ? then(listed, (after) => readSession(after, event.agentSessionId)) : listed;
    }
    case "resync": {
      const listed = isWhole ? readList(reached(state, event.commitSeq)) : still(state);
      const { open } = state;
      return open ? then(listed, (next) => readSession(next, open.agentSessionId)) : listed;
    }
    case "message_delta": {
      if (state.open?.agentSessionId !== event.agentSessionId) return still(state);
      const open = withDelta(state.open, event);
      return open ? still({ ...state, open }) : repair(state, event.agentSessionId, event.messageId);
    }
    case "message_snapshot":
      if (state.open?.agentSessionId !== event.message.agentSessionId) return still(state);
      return still({ ...state, open: withMessage(state.open, event.message) });
    case "runtime_activity":
      return still({
        ...state,
        list: withActivity(state.list, event),
        open: state.open && withActivity2(state.open, event)
      });
    case "shutdown":
      return still({ ...state, shutdown: true, announcement: "Greenroom is stopping." });
    case "health":
      return requested(state, { kind: "health" }, "health/read", {});
    case "target":
      return readTargets(state, null);
    default:
      return still(state);
  }
}
function committed(state, { changes, commitSeq }) {
  let next = state;
  let isReordered = false;
  for (const change of changes) {
    const { open } = next;
    isReordered ||= change.type === "session_restored" || unpins(next.list, change);
    next = {
      ...next,
      list: withChange(next.list, change, commitSeq),
      open: open && withChange2(open, change, commitSeq),
      announcement: announcementOf(open, change) ?? next.announcement
    };
  }
  const read = isReordered ? readList(next) : still(next);
  return changes.reduce((step, change) => then(step, (current) => withAncestor(current, change)), read);
}
function withAncestor(state, change) {
  if (change.type !== "interaction" || change.row.status !== "pending") return still(state);
  const { agentSessionId } = change.row;
  const isKnown = isListed(state.list, agentSessionId) || state.list.roots.has(agentSessionId);
  return isKnown ? still(state) : readAncestor(state, agentSessionId);
}
function announcementOf(before, change) {
  if (!before || change.type === "operation" || change.type === "goal") return null;
  if (change.row.agentSessionId !== before.agentSessionId) return null;
  if (change.type === "interaction" && change.row.status === "pending") return "The agent asks for an answer.";
  if (change.type === "turn" && change.row.phase === "settled") {
    const { outcome } = change.row;
    return outcome === "completed" ? "The agent is done." : `The turn has ended: ${outcome}.`;
  }
  return change.type === "session_removed" ? "This session was deleted." : null;
}
function reached(state, commitSeq) {
  if (!state.head || commitSeq <= state.head.commitSeq) return state;
  return { ...state, head: { ...state.head, commitSeq } };
}

// src/sentences.ts
var INNER = "Reload the page; if it happens again, the daemon's log says more.";
var SENTENCES = {
  "request.invalid": ["Greenroom did not understand the request.", INNER],
  "request.unknown_method": ["This Greenroom does not know the request.", "Update Greenroom, then reload the page."],
  "request.too_large": ["The text is too long.", "Shorten it, or put it into a file and name the file."],
  "auth.forbidden": ["Your token does not allow this.", "Open the page with a token of a wider scope."],
  "protocol.uninitialized": ["The connection was not ready yet.", INNER],
  "protocol.unsupported": ["This page and the daemon speak different versions.", "Reload the page."],
  "session.not_found": ["There is no such session.", "Choose another one from the list."],
  "session.exists": ["A session of this name exists already.", "Choose another name."],
  "session.busy": ["The agent is still working on the last prompt.", "Wait until it is done, or stop it, then send again."],
  "session.deleted": ["This session was deleted.", "Restore it to go on with it, or choose another one."],
  "session.not_resumable": ["The agent no longer has this conversation.", "Read it here, and go on in a new session."],
  "session.quarantined": ["This session failed too often and was set aside.", "It stays readable; go on in a new session, and look into the daemon's log."],
  "session.cwd_missing": ["The working directory is not there.", "Create it, or name another one."],
  "isolation.refused": ["A checkout of its own cannot be made there.", "Begin the session without one, or see the daemon's log."],
  "turn.not_found": ["There is no such turn.", "Reload the page."],
  "turn.mismatch": ["The agent cannot take this right now.", "Try again in a moment."],
  "turn.settled": ["The turn has ended already.", "Send a new prompt."],
  "interaction.not_found": ["There is no such question.", "Reload the page."],
  "interaction.not_pending": ["This question was answered already, or the agent no longer asks it.", "Nothing to do."],
  "interaction.unsupported_answer": ["The agent did not offer this answer.", "Choose one of the answers shown."],
  "submit.conflict": ["This was sent before with other words.", "Send it again as a new prompt."],
  "submit.delivery_unknown": ["It is not known whether the agent got this.", "Look at what it does before you send it again."],
  "target.not_found": ["This agent is no longer configured.", "Choose another agent, or add it to the configuration."],
  "target.disabled": ["This agent is switched off in the configuration.", "Choose another agent, or switch it on."],
  "provider.unavailable": ["The agent's program could not be started.", "Check that it is installed: greenroom doctor says what is missing."],
  "provider.auth_required": ["The agent wants you to sign in.", "Sign in with its own program in a terminal, then send the prompt again."],
  "provider.rejected": ["The agent refused the request.", "Change it and try again."],
  "provider.timeout": ["The agent did not answer in time.", "Look at what it does before you send it again."],
  "provider.lost": ["The agent's program ended in the middle of its work.", "Send the prompt again; it is started anew."],
  "provider.protocol": ["The agent said something that cannot be understood.", "Send the prompt again; if it stays, update the agent."],
  "provider.rate_limited": ["The model's service is busy and asks to wait.", "Send the prompt again in a while."],
  "provider.quota": ["The account's allowance is used up.", "Add credit or wait for the next period, then send the prompt again."],
  "provider.context_full": ["The conversation has grown beyond what the model can hold.", "Go on in a new session."],
  "provider.model_unavailable": ["The model is not available to this account.", "Choose another model."],
  "provider.refused": ["The model declined to answer.", "Put the prompt in other words."],
  "provider.stopped": ["The agent stopped for a reason of its own.", "Send a prompt to go on."],
  "capability.unsupported": ["This is not supported here.", "The agent, or this release, cannot do it."],
  "settings.launch_only": ["This setting counts only at the start of a session.", "Set it in a new session."],
  "settings.invalid": ["The agent does not know this setting or value.", "Choose another value."],
  "goal.conflict": ["The goal has changed meanwhile.", "Look at it again, then repeat."],
  "fork.not_eligible": ["The conversation cannot be forked here.", "Choose another turn."],
  "fork.unknown": ["It is not known whether the fork was made.", "Look at the list of sessions."],
  "history.revision_conflict": ["The conversation has changed meanwhile.", "Look at it again, then repeat."],
  "history.fenced": ["An edit of the conversation is not finished.", "Wait for it, then repeat."],
  "side.not_found": ["There is no such side conversation.", "Open a new one."],
  "side.expired": ["The side conversation has ended.", "Open a new one."],
  "side.exists": ["A side conversation of this name exists.", "Choose another name."],
  "attachment.unsupported": ["The agent cannot take this kind of attachment.", "Leave it out, or name a file instead."],
  "attachment.not_found": ["The attachment is gone.", "Attach it again."],
  "operation.not_found": ["There is no such operation.", "Reload the page."],
  "limit.exceeded": ["A limit of this Greenroom is reached.", "End or finish other sessions, then try again."],
  overloaded: ["Greenroom is busy.", "Try again in a moment."],
  "store.full": ["The disk is full, so nothing was written.", "Free some space, then try again. Stopping still works."],
  "store.unavailable": ["The disk cannot be read or written.", "Check the disk and the daemon's log."],
  "recording.conflict": ["A recording is running already.", "End it first."],
  "recording.invalid": ["The recording cannot be used.", "Choose another one."],
  "shutdown.in_progress": ["Greenroom is stopping.", "Start it again; this page reconnects by itself."],
  internal: ["Something inside Greenroom went wrong.", "It was logged. Look at the session before you try again."]
};
function refusal(error) {
  const sentence = sentenceOf(error.code);
  if (error.code === "limit.exceeded" && typeof error.details["limit"] === "string") {
    return { what: `The limit ${error.details["limit"]} of this Greenroom is reached.`, next: sentence.next };
  }
  if (error.code === "settings.invalid" && typeof error.details["key"] === "string") {
    return { what: `The agent does not take this value of ${error.details["key"]}.`, next: sentence.next };
  }
  return sentence;
}
function failure(error) {
  return error ? sentenceOf(error.code) : { what: "The turn failed.", next: "Send the prompt again." };
}
function sentenceOf(code) {
  const known = SENTENCES[code];
  const [what, next] = known ?? [`Greenroom refused this (${code}).`, "Reload the page, which may know it by now."];
  return { what, next };
}

// src/store/refusals.ts
function refused(state, id, error) {
  const command = state.commands.find((one) => one.id === id);
  if (command) {
    const next2 = { ...state, commands: state.commands.filter((one) => one !== command) };
    return still(withProblem(notDone(next2, command, error), refusal(error)));
  }
  const read = state.reads.get(id);
  const reads = new Map(state.reads);
  reads.delete(id);
  if (!read) return still(withProblem(state, refusal(error)));
  const next = notRead({ ...state, reads }, read, error);
  return read.kind === "initialize" ? greetingRefused(next) : still(next);
}
function notDone(state, command, error) {
  const { open } = state;
  if (command.method === "session/send" && open?.agentSessionId === command.params.agentSessionId) {
    const { agentSessionId, clientSubmitId } = command.params;
    const text = open.outgoing.find((one) => one.clientSubmitId === clientSubmitId)?.text ?? "";
    const outgoing = open.outgoing.filter((one) => one.clientSubmitId !== clientSubmitId);
    const drafts = state.drafts.has(agentSessionId) ? state.drafts : withEntry(state.drafts, agentSessionId, text, LIMITS.draftsKept);
    return { ...state, drafts, open: { ...open, outgoing } };
  }
  const row = error.details["interaction"];
  if (command.method === "interaction/respond" && row && open) {
    return { ...state, open: withInteraction2(open, row, state.head?.commitSeq ?? 0) };
  }
  return state;
}
function notRead(state, read, error) {
  switch (read.kind) {
    case "session":
    case "newest":
      if (state.open?.agentSessionId !== read.agentSessionId) return state;
      if (error.code === "session.deleted") return { ...state, open: { ...state.open, phase: "deleted" } };
      if (state.open.phase === "deleted") return state;
      return { ...state, open: { ...state.open, phase: "failed", failure: error.code } };
    case "older":
      return withProblem({ ...state, open: state.open && { ...state.open, loadingOlder: false } }, refusal(error));
    case "list":
      return withProblem({ ...state, list: { ...state.list, phase: "ready", loadingMore: false } }, refusal(error));
    case "follow":
      return error.code === "session.not_found" ? state : withProblem(state, refusal(error));
    case "excerpt":
    case "ancestor":
    case "turns":
    case "unfollow":
    case "repair":
      return state;
    default:
      return withProblem(state, refusal(error));
  }
}

// src/store/replies.ts
function replied(state, id, result) {
  const command = state.commands.find((one) => one.id === id);
  if (command) {
    return done({ ...state, commands: state.commands.filter((one) => one !== command) }, command, result);
  }
  const read = state.reads.get(id);
  if (!read) return still(state);
  const reads = new Map(state.reads);
  reads.delete(id);
  return answered({ ...state, reads }, read, result);
}
function done(state, command, result) {
  switch (command.method) {
    case "session/create":
      return created(state, result);
    case "session/rename":
    case "session/pin":
    case "session/delete":
    case "session/restore":
      return still(state);
    case "session/send":
    case "turn/cancel": {
      const { turn, commitSeq } = result;
      const list = withChange(state.list, { type: "turn", row: turn }, commitSeq);
      return still(inOpen({ ...state, list }, turn.agentSessionId, (open) => withTurn2(open, turn, commitSeq)));
    }
    case "interaction/respond": {
      const { interaction, commitSeq } = result;
      const list = withChange(state.list, { type: "interaction", row: interaction }, commitSeq);
      const open = state.open && withInteraction2(state.open, interaction, commitSeq);
      return still({ ...state, list, open });
    }
  }
}
function created(state, { session, turn, commitSeq }) {
  let list = withChange(state.list, { type: "session", row: session }, commitSeq);
  if (turn) list = withChange(list, { type: "turn", row: turn }, commitSeq);
  const { agentSessionId } = session;
  const left = unsubscribe({ ...state, list, creating: false }, state.open?.subscriptionId ?? null);
  const opened = {
    state: { ...left.state, open: opening(agentSessionId) },
    effects: [...left.effects, { type: "show_address", agentSessionId }]
  };
  return then(opened, (next) => follow(next, agentSessionId));
}
function answered(state, read, result) {
  switch (read.kind) {
    case "initialize":
      return initialized(state, result);
    case "subscribe":
      return subscribed(state, result, read.resumed);
    case "list": {
      const reply = result;
      const next = { ...state, list: withPage(state.list, reply, read.cursor === null) };
      return readExcerpts(next, reply.items.map((item) => item.agentSessionId));
    }
    case "pending": {
      const reply = result;
      const { open } = state;
      const shown = open && reply.items.filter((row) => isOf(open, row.agentSessionId)).reduce((next2, row) => withInteraction2(next2, row, reply.commitSeq), open);
      const next = { ...state, open: shown, list: withPending(state.list, reply, read.first) };
      return reply.nextCursor && next.list.pending.size < LIMITS.pendingKept ? readPending(next, reply.nextCursor) : still(next);
    }
    case "targets": {
      const reply = result;
      const next = { ...state, targets: read.first ? reply.items : [...state.targets, ...reply.items] };
      return reply.nextCursor ? readTargets(next, reply.nextCursor) : still(next);
    }
    case "health":
      return still({ ...state, health: result });
    case "excerpt": {
      const { messages } = result;
      return still({ ...state, list: withExcerpt(state.list, messages) });
    }
    case "ancestor":
      return still({ ...state, list: withRoot(state.list, result.session) });
    case "unfollow":
      return still(state);
    default:
      return ofSession(state, read, result);
  }
}
function ofSession(state, read, result) {
  const { agentSessionId } = read;
  const changed = (change) => inOpen(state, agentSessionId, change);
  switch (read.kind) {
    case "follow": {
      const { subscriptionId } = result;
      if (state.open?.agentSessionId === agentSessionId) return still(changed((open) => ({ ...open, subscriptionId })));
      return unsubscribe(state, subscriptionId);
    }
    case "session": {
      const reply = result;
      const list = reply.children.reduce(withRoot, state.list);
      const next = { ...changed((open) => withSessionRead(open, reply)), list };
      return reply.incomplete?.includes("interactions") ? readPending(next, null) : still(next);
    }
    case "turns": {
      const { items, nextCursor, commitSeq } = result;
      const older = (open) => items.reduce((next, turn) => withTurn2(next, turn, commitSeq), { ...open, turnsCursor: nextCursor });
      return withTurnsOf(changed(older));
    }
    case "newest":
      return withTurnsOf(changed((open) => withNewest(open, result)));
    case "older":
      return withTurnsOf(changed((open) => withOlder(open, result)));
    case "repair": {
      const { messages } = result;
      return still(changed((open) => messages.reduce(withMessage, open)));
    }
  }
}
function withTurnsOf(state) {
  return state.open && lacksTurns(state.open) ? readTurns(state) : still(state);
}
function inOpen(state, agentSessionId, change) {
  return state.open?.agentSessionId === agentSessionId ? { ...state, open: change(state.open) } : state;
}

// src/store/store.ts
function update(state, event) {
  switch (event.type) {
    case "started": {
      const open = event.agentSessionId === null ? null : opening(event.agentSessionId);
      return event.hasToken ? connecting({ ...state, open }, 1, null) : still({ ...state, open });
    }
    case "token_given":
      return connecting(state, 1, null);
    case "retry_due":
      return state.connection.phase === "waiting" ? connecting(state, state.connection.attempt, state.connection.why) : still(state);
    case "socket_opened": {
      const { connection } = state;
      const admitted = connection.phase === "connecting" ? { ...state, connection: { ...connection, isAdmitted: true } } : state;
      return requested(admitted, { kind: "initialize" }, "initialize", { protocolVersion: 1, clientInfo: { name: "console" } });
    }
    case "socket_closed":
      return connectionLost(state, event.code, event.reachable);
    case "frame":
      return framed(state, event.frame);
    default:
      return chosen(state, event);
  }
}
function chosen(state, event) {
  switch (event.type) {
    case "session_chosen":
      return sessionChosen(state, event.agentSessionId);
    case "more_sessions_wanted": {
      const { list } = state;
      if (list.cursor === null || list.loadingMore || state.connection.phase !== "open") return still(state);
      const loading = { ...state, list: { ...list, loadingMore: true } };
      const params = { workspaceId: state.workspaceId, cursor: list.cursor, limit: LIMITS.page };
      return requested(loading, { kind: "list", cursor: list.cursor }, "session/list", params);
    }
    case "older_wanted":
      return readOlder(state);
    case "newest_wanted":
      return state.open ? readNewest(state, state.open.agentSessionId) : still(state);
    case "draft_changed":
      return still(withDraft(state, event.text));
    case "prompt_given":
      return promptGiven(state, event.text, event.clientSubmitId);
    case "stop_wanted": {
      const turn = state.open ? unsettledTurn(state.open) : null;
      if (!turn || turn.phase === "settling") return still(state);
      const { workspaceId, agentSessionId, turnId } = turn;
      return commanded(state, "turn/cancel", { workspaceId, agentSessionId, turnId });
    }
    case "answer_given": {
      const { workspaceId, agentSessionId, turnId, requestId } = event.interaction;
      return commanded(state, "interaction/respond", { workspaceId, agentSessionId, turnId, requestId, answer: event.answer });
    }
    case "session_wanted": {
      if (state.commands.some((command) => command.method === "session/create")) return still(state);
      const { agentTargetId, clientSubmitId, cwd, title, prompt, settings } = event.session;
      return commanded(state, "session/create", {
        workspaceId: state.workspaceId,
        agentTargetId,
        clientSubmitId,
        ...cwd.trim() && { cwd: cwd.trim() },
        ...title.trim() && { title: title.trim() },
        ...Object.keys(settings).length > 0 && { settings },
        ...prompt.trim() && { initialContent: [{ type: "text", text: prompt }] }
      });
    }
    case "title_given":
      return ofOpen(state, (key) => commanded(state, "session/rename", { ...key, title: event.title.trim() }));
    case "pin_wanted":
      return ofOpen(state, (key) => commanded(state, "session/pin", { ...key, pinned: event.pinned }));
    case "deletion_wanted":
    case "restoration_wanted": {
      const method = event.type === "deletion_wanted" ? "session/delete" : "session/restore";
      return ofOpen(state, ({ workspaceId, agentSessionId }) => commanded(state, method, { workspaceId, agentSessionIds: [agentSessionId] }));
    }
    case "creating_toggled":
      return still({ ...state, creating: event.shown });
    case "health_wanted":
      return state.connection.phase === "open" ? requested(state, { kind: "health" }, "health/read", {}) : still(state);
    case "problem_dismissed":
      return still({ ...state, problems: state.problems.filter((problem) => problem.id !== event.id) });
  }
}
function framed(state, frame) {
  if ("method" in frame) return happened(state, frame.params);
  if ("result" in frame) return replied(state, Number(frame.id), frame.result);
  return refused(state, Number(frame.id), frame.error.data);
}
function connecting(state, attempt, why) {
  return { state: { ...state, connection: { phase: "connecting", attempt, why, isAdmitted: false } }, effects: [{ type: "connect" }] };
}
function sessionChosen(state, agentSessionId) {
  if (agentSessionId === (state.open?.agentSessionId ?? null) && state.open?.phase !== "failed") return still(state);
  const left = unsubscribe(state, state.open?.subscriptionId ?? null);
  const open = agentSessionId === null ? null : opening(agentSessionId);
  const shown = {
    state: { ...left.state, open, creating: false },
    effects: [...left.effects, { type: "show_address", agentSessionId }]
  };
  if (agentSessionId === null || state.connection.phase !== "open") return shown;
  return then(shown, (next) => follow(next, agentSessionId));
}
function promptGiven(state, text, clientSubmitId) {
  const { open } = state;
  if (!open || !text.trim() || unsettledTurn(open) || open.outgoing.length > 0) return still(state);
  const outgoing = [...open.outgoing, { clientSubmitId, text }];
  const cleared = withDraft({ ...state, open: { ...open, outgoing } }, "");
  const { agentSessionId } = open;
  return commanded(cleared, "session/send", {
    workspaceId: state.workspaceId,
    agentSessionId,
    clientSubmitId,
    content: [{ type: "text", text }]
  });
}
function ofOpen(state, command) {
  return state.open ? command({ workspaceId: state.workspaceId, agentSessionId: state.open.agentSessionId }) : still(state);
}
function withDraft(state, text) {
  if (!state.open) return state;
  const { agentSessionId } = state.open;
  const drafts = text ? withEntry(state.drafts, agentSessionId, text, LIMITS.draftsKept) : withoutEntry(state.drafts, agentSessionId);
  return { ...state, drafts };
}

// src/views/context.ts
function submitId() {
  const random = crypto.getRandomValues(new Uint8Array(16));
  return `console-${[...random].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
function addressOf(workspaceId, agentSessionId) {
  const place = `#/${encodeURIComponent(workspaceId)}`;
  return agentSessionId === null ? place : `${place}/${encodeURIComponent(agentSessionId)}`;
}

// src/driver.ts
var TOKEN_KEY = "greenroom.token";
var WORKSPACE = "default";
var HIDDEN_DRAW_MS = 250;
function parseAddress(fragment) {
  const text = fragment.replace(/^#/, "");
  const token = /^token=([A-Za-z0-9_-]+)$/.exec(text)?.[1] ?? null;
  const [workspaceId, agentSessionId] = text.startsWith("/") ? text.slice(1).split("/").map(decoded) : [];
  return { token, workspaceId: workspaceId || WORKSPACE, agentSessionId: agentSessionId || null };
}
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
var Driver = class {
  constructor(draw) {
    this.draw = draw;
    const address = parseAddress(location.hash);
    if (address.token) this.rememberToken(address.token);
    this.state = initialState(address.workspaceId);
    if (address.token) this.showAddress(null, true);
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.dispatch({ type: "retry_due" });
    });
    window.addEventListener("hashchange", () => this.addressChanged());
    this.dispatch({ type: "started", hasToken: this.token() !== null, agentSessionId: address.agentSessionId });
  }
  draw;
  state;
  socket = null;
  isDrawing = false;
  dispatch = (event) => {
    const { state, effects } = update(this.state, event);
    this.state = state;
    for (const effect of effects) this.perform(effect);
    this.drawSoon();
  };
  giveToken = (token) => {
    this.rememberToken(token);
    this.dispatch({ type: "token_given" });
  };
  /** Draws once for all that happened since the last picture. */
  drawSoon() {
    if (this.isDrawing) return;
    this.isDrawing = true;
    const draw = () => {
      this.isDrawing = false;
      this.draw(this.state);
    };
    if (document.hidden) setTimeout(draw, HIDDEN_DRAW_MS);
    else requestAnimationFrame(draw);
  }
  perform(effect) {
    switch (effect.type) {
      case "connect":
        return this.connect();
      case "disconnect":
        return this.socket?.close(1e3);
      case "request": {
        const { id, method, params } = effect;
        if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
        return;
      }
      case "retry_after":
        setTimeout(() => this.dispatch({ type: "retry_due" }), effect.milliseconds);
        return;
      case "show_address":
        return this.showAddress(effect.agentSessionId, false);
      case "forget_token":
        return sessionStorage.removeItem(TOKEN_KEY);
    }
  }
  connect() {
    const url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/v1/ws`;
    const socket = new WebSocket(url, ["greenroom.v1", `greenroom.v1.bearer.${this.token() ?? ""}`]);
    this.socket = socket;
    socket.onopen = () => this.dispatch({ type: "socket_opened" });
    socket.onmessage = ({ data }) => {
      this.dispatch({ type: "frame", frame: JSON.parse(data) });
    };
    socket.onclose = ({ code }) => {
      this.socket = null;
      void isReachable().then((reachable) => this.dispatch({ type: "socket_closed", code, reachable }));
    };
  }
  addressChanged() {
    const { token, workspaceId, agentSessionId } = parseAddress(location.hash);
    if (token) {
      this.rememberToken(token);
      this.showAddress(null, true);
      return location.reload();
    }
    if (workspaceId !== this.state.workspaceId) return location.reload();
    this.dispatch({ type: "session_chosen", agentSessionId });
  }
  showAddress(agentSessionId, instead) {
    const address = addressOf(this.state.workspaceId, agentSessionId);
    if (location.hash === address) return;
    if (instead) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
  }
  rememberToken(token) {
    sessionStorage.setItem(TOKEN_KEY, token);
  }
  token() {
    return sessionStorage.getItem(TOKEN_KEY);
  }
};
async function isReachable() {
  try {
    return (await fetch("/healthz", { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

// node_modules/preact/jsx-runtime/dist/jsxRuntime.mjs
var f2 = /* @__PURE__ */ Symbol.for("pv");
var o2 = 0;
function a2(t2, e2, n2, u2, a3, i2) {
  e2 || (e2 = {});
  var c2, l4, p2 = e2;
  if ("ref" in p2 && "function" != typeof t2) for (l4 in p2 = {}, e2) "ref" == l4 ? c2 = e2[l4] : p2[l4] = e2[l4];
  var s2 = { type: t2, props: p2, key: n2, ref: c2, __k: null, __: null, __b: 0, __e: null, __c: null, constructor: f2, __v: --o2, __i: -1, __u: 0 };
  return (a3 || i2) && (s2.__source = a3, s2.__self = i2), n.vnode && n.vnode(s2), s2;
}

// src/icons.tsx
var PATHS = {
  plus: "M12 5v14M5 12h14",
  pin: "M9 4h6l-1 6 3 3v2H7v-2l3-3-1-6zM12 15v5",
  bin: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10 11v5M14 11v5",
  back: "M15 5l-7 7 7 7",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M7 7h10v10H7z",
  check: "M5 12.5l4.5 4.5L19 7.5",
  cross: "M6 6l12 12M18 6L6 18",
  terminal: "M4 6l6 6-6 6M12 18h8",
  file: "M7 3h7l4 4v14H7zM14 3v4h4",
  pencil: "M4 20l1-5L16 4l4 4L9 19l-5 1z",
  search: "M10.5 4a6.5 6.5 0 100 13 6.5 6.5 0 000-13zM20 20l-5-5",
  globe: "M12 3a9 9 0 100 18 9 9 0 000-18zM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18",
  thought: "M12 4a7 7 0 00-4 12.7V20h8v-3.3A7 7 0 0012 4zM9 22h6",
  people: "M9 5a3 3 0 100 6 3 3 0 000-6zM3 20c0-4 2.5-6 6-6s6 2 6 6M16 6a3 3 0 010 5M17 14c2.5.5 4 2.5 4 6",
  tool: "M14 6a4 4 0 015-3l-3 3 2 2 3-3a4 4 0 01-5 5L8 18a2 2 0 01-3-3l9-9z",
  question: "M9 9a3 3 0 115 2c-1 1-2 1.500-2 3M12 18v.01",
  shield: "M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6l7-3z",
  warning: "M12 4l9 16H3l9-16zM12 10v4M12 17v.01"
};
function Icon({ name }) {
  return /* @__PURE__ */ a2("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false", children: /* @__PURE__ */ a2("path", { d: PATHS[name] }) });
}

// src/views/new_session.tsx
var DEFAULT = "";
var NewSession = class extends x {
  state = { targetId: null };
  dialog = M();
  componentDidMount() {
    this.dialog.current?.showModal();
  }
  close = () => this.props.dispatch({ type: "creating_toggled", shown: false });
  submit = (event) => {
    event.preventDefault();
    const target = this.target();
    if (!target) return;
    const form = new FormData(event.currentTarget);
    const text = (name) => String(form.get(name) ?? "");
    this.props.dispatch({
      type: "session_wanted",
      session: {
        agentTargetId: target.agentTargetId,
        clientSubmitId: submitId(),
        cwd: text("cwd"),
        title: text("title"),
        prompt: text("prompt"),
        settings: chosenSettings(target, form)
      }
    });
  };
  target() {
    const { targets } = this.props.state;
    return targets.find((one) => one.agentTargetId === this.state.targetId) ?? targets.find(isUsable) ?? targets[0];
  }
  render({ state }) {
    const target = this.target();
    const isSent = state.commands.some((one) => one.method === "session/create");
    return /* @__PURE__ */ a2("dialog", { class: "dialog", ref: this.dialog, onClose: this.close, "aria-labelledby": "new-session-title", children: /* @__PURE__ */ a2("form", { onSubmit: this.submit, children: [
      /* @__PURE__ */ a2("header", { children: [
        /* @__PURE__ */ a2("h1", { id: "new-session-title", children: "New session" }),
        /* @__PURE__ */ a2("button", { type: "button", class: "quiet round", "aria-label": "Close", onClick: () => this.dialog.current?.close(), children: /* @__PURE__ */ a2(Icon, { name: "cross" }) })
      ] }),
      /* @__PURE__ */ a2("label", { for: "new-prompt", children: "Prompt" }),
      /* @__PURE__ */ a2("textarea", { id: "new-prompt", name: "prompt", rows: 4, dir: "auto", autofocus: true, placeholder: "What should the agent do? May be left empty." }),
      /* @__PURE__ */ a2("label", { for: "new-target", children: "Agent" }),
      /* @__PURE__ */ a2("select", { id: "new-target", value: target?.agentTargetId, onChange: (event) => this.setState({ targetId: event.currentTarget.value }), children: state.targets.map((one) => /* @__PURE__ */ a2("option", { value: one.agentTargetId, disabled: !isUsable(one), children: [
        one.name,
        whyNot(one)
      ] }, one.agentTargetId)) }),
      /* @__PURE__ */ a2("details", { children: [
        /* @__PURE__ */ a2("summary", { children: "More" }),
        /* @__PURE__ */ a2("label", { for: "new-cwd", children: "Working directory" }),
        /* @__PURE__ */ a2("input", { id: "new-cwd", name: "cwd", spellcheck: false, autocomplete: "off", placeholder: "A new directory of its own" }),
        /* @__PURE__ */ a2("label", { for: "new-title", children: "Title" }),
        /* @__PURE__ */ a2("input", { id: "new-title", name: "title", dir: "auto", maxLength: 500, autocomplete: "off" }),
        target?.settings.map((setting) => /* @__PURE__ */ a2(Setting, { setting }, `${target.agentTargetId} ${setting.key}`))
      ] }),
      !target && /* @__PURE__ */ a2("p", { class: "notice warning", children: [
        /* @__PURE__ */ a2(Icon, { name: "warning" }),
        /* @__PURE__ */ a2("span", { children: "No agent is configured. Add one to the configuration, or install one and restart Greenroom." })
      ] }),
      /* @__PURE__ */ a2("div", { class: "options", children: /* @__PURE__ */ a2("button", { type: "submit", class: "primary", disabled: isSent || !target || !isUsable(target), children: isSent ? "Starting …" : "Start" }) })
    ] }) });
  }
};
function Setting({ setting }) {
  const id = `setting-${setting.key}`;
  const values = valuesOf(setting);
  const chosen2 = setting.default === null ? "the agent's choice" : labelOf(setting);
  return /* @__PURE__ */ a2($, { children: [
    /* @__PURE__ */ a2("label", { for: id, children: wordsOf(setting.key) }),
    values === null ? /* @__PURE__ */ a2("input", { id, name: id, spellcheck: false, placeholder: chosen2 }) : /* @__PURE__ */ a2("select", { id, name: id, children: [
      /* @__PURE__ */ a2("option", { value: DEFAULT, children: [
        "Default: ",
        chosen2
      ] }),
      values.map((value, index) => /* @__PURE__ */ a2("option", { value: String(index), children: [
        value.label,
        value.effect === "unrestricted" && " (acts without asking)"
      ] }, index))
    ] })
  ] });
}
function chosenSettings(target, form) {
  const chosen2 = {};
  for (const setting of target.settings) {
    const { key } = setting;
    const values = valuesOf(setting);
    const given = String(form.get(`setting-${key}`) ?? DEFAULT);
    if (given === DEFAULT) continue;
    const value = values === null ? given : values[Number(given)]?.value;
    if (value !== void 0) chosen2[key] = value;
  }
  return chosen2;
}
function isUsable(target) {
  return target.enabled && target.program.found;
}
function whyNot(target) {
  if (!target.enabled) return " (switched off)";
  return target.program.found ? "" : " (not installed)";
}
function labelOf(setting) {
  return valuesOf(setting)?.find((value) => value.value === setting.default)?.label ?? String(setting.default);
}
function valuesOf(setting) {
  if (setting.values !== null || typeof setting.default !== "boolean") return setting.values;
  return [
    { value: true, label: "yes", effect: null },
    { value: false, label: "no", effect: null }
  ];
}
function wordsOf(key) {
  const words = key.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// src/format.ts
var MINUTE = 6e4;
var HOUR = 60 * MINUTE;
var DAY = 24 * HOUR;
var DATE = new Intl.DateTimeFormat(void 0, { day: "numeric", month: "short" });
var MOMENT = new Intl.DateTimeFormat(void 0, { dateStyle: "medium", timeStyle: "short" });
var COUNT = new Intl.NumberFormat(void 0, { notation: "compact", maximumFractionDigits: 1 });
function ago(time, now) {
  const passed = now - time;
  if (passed < MINUTE) return "now";
  if (passed < HOUR) return `${Math.floor(passed / MINUTE)} min`;
  if (passed < DAY) return `${Math.floor(passed / HOUR)} h`;
  if (passed < 7 * DAY) return `${Math.floor(passed / DAY)} d`;
  return DATE.format(time);
}
function moment(time) {
  return MOMENT.format(time);
}
function duration(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1e3));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
function bytes(count2) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let value = count2;
  let unit = 0;
  while (value >= 1e3 && unit < units.length - 1) {
    value /= 1e3;
    unit += 1;
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}
function count(value) {
  return COUNT.format(value);
}
function plural(value, one) {
  return `${value} ${one}${value === 1 ? "" : "s"}`;
}
function folder(path) {
  return path.split("/").findLast((part) => part !== "") ?? path;
}
function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}
var MOST_SHOWN = 2e4;
function clipped(text) {
  if (text.length <= MOST_SHOWN) return { text, hidden: 0 };
  const half = MOST_SHOWN / 2;
  const hidden = text.length - MOST_SHOWN;
  return { text: `${text.slice(0, half)}

… ${count(hidden)} characters left out …

${text.slice(-half)}`, hidden };
}

// src/views/composer.tsx
var HEIGHT_MOST_PIXELS = 260;
var Composer = class extends x {
  field = M();
  componentDidMount() {
    this.fit();
    if (matchMedia("(pointer: fine)").matches) this.field.current?.focus();
  }
  componentDidUpdate() {
    this.fit();
  }
  fit() {
    const field = this.field.current;
    if (!field) return;
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight, HEIGHT_MOST_PIXELS)}px`;
  }
  send = () => {
    const text = this.field.current?.value ?? "";
    this.props.dispatch({ type: "prompt_given", text, clientSubmitId: submitId() });
  };
  keyed = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.send();
  };
  render({ state, dispatch, open }) {
    const draft = state.drafts.get(open.agentSessionId) ?? "";
    const turn = unsettledTurn(open);
    const isSending = open.outgoing.length > 0;
    const isBusy = turn !== null || isSending;
    const meanwhile = turn?.phase === "waiting" ? "The agent waits for your answer." : "The agent is working. Write the next prompt meanwhile …";
    const isStopping = turn?.phase === "settling";
    if (!canControl(state)) return /* @__PURE__ */ a2("p", { class: "faint read-only", children: "Your token may read only." });
    return /* @__PURE__ */ a2("form", { class: `composer ${isBusy ? "busy" : ""}`, onSubmit: (event) => {
      event.preventDefault();
      this.send();
    }, children: [
      /* @__PURE__ */ a2("label", { class: "unseen", for: "prompt", children: "Prompt" }),
      /* @__PURE__ */ a2(
        "textarea",
        {
          id: "prompt",
          ref: this.field,
          rows: 1,
          value: draft,
          dir: "auto",
          placeholder: isBusy ? meanwhile : "What should the agent do?",
          "aria-describedby": "prompt-help",
          onInput: (event) => dispatch({ type: "draft_changed", text: event.currentTarget.value }),
          onKeyDown: this.keyed
        }
      ),
      turn ? /* @__PURE__ */ a2("button", { type: "button", class: "round stop", disabled: isStopping, onClick: () => dispatch({ type: "stop_wanted" }), "aria-label": isStopping ? "Stopping" : "Stop the agent", title: isStopping ? "Stopping …" : "Stop the agent", children: /* @__PURE__ */ a2(Icon, { name: "stop" }) }) : /* @__PURE__ */ a2("button", { type: "submit", class: "round primary", disabled: !draft.trim() || isSending, "aria-label": "Send", title: "Send (Enter)", children: /* @__PURE__ */ a2(Icon, { name: "send" }) }),
      /* @__PURE__ */ a2("p", { id: "prompt-help", class: "unseen", children: "Enter sends, Shift and Enter begins a new line." })
    ] });
  }
};

// node_modules/marked/lib/marked.esm.js
function G2() {
  return { async: false, breaks: false, extensions: null, gfm: true, hooks: null, pedantic: false, renderer: null, silent: false, tokenizer: null, walkTokens: null };
}
var S2 = G2();
function ue(l4) {
  S2 = l4;
}
var q2 = { exec: () => null };
function D2(l4) {
  let e2 = [];
  return (t2) => {
    let n2 = Math.max(0, Math.min(3, t2 - 1)), r2 = e2[n2];
    return r2 || (r2 = l4(n2), e2[n2] = r2), r2;
  };
}
function g2(l4, e2 = "") {
  let t2 = typeof l4 == "string" ? l4 : l4.source, n2 = { replace: (r2, s2) => {
    let o3 = typeof s2 == "string" ? s2 : s2.source;
    return o3 = o3.replace(O.caret, "$1"), t2 = t2.replace(r2, o3), n2;
  }, getRegex: () => new RegExp(t2, e2) };
  return n2;
}
var _e = ((l4 = "") => {
  try {
    return !!new RegExp("(?<=1)(?<!1)" + l4);
  } catch {
    return false;
  }
})();
var O = { codeRemoveIndent: /^(?: {0,3}\t| {1,4})/gm, listInterruptsParagraph: /^ {0,3}(?:[*+-]|1[.)])[ \t]+[^ \t\n]/, outputLinkReplace: /\\([\[\]])/g, indentCodeCompensation: /^(\s+)(?:```)/, beginningSpace: /^\s+/, endingHash: /#$/, startingSpaceChar: /^ /, endingSpaceChar: / $/, endingSpaceTabChar: /[ \t]$/, nonSpaceChar: /[^ ]/, newLineCharGlobal: /\n/g, tabCharGlobal: /\t/g, leadingSpaceTab: /^[ \t]+/, multipleSpaceGlobal: /\s+/g, blankLine: /^[ \t]*$/, doubleBlankLine: /\n[ \t]*\n[ \t]*$/, blockquoteStart: /^ {0,3}>/, blockquoteSetextReplace: /\n {0,3}((?:=+|-+)[ \t]*)(?=\n|$)/g, blockquoteSetextReplace2: /^ {0,3}>[ \t]?/gm, blockquoteMarkerWhitespace: /^( {0,3}>)(\t[ \t]*)/gm, nestedBlockMarker: /^ {0,3}(?:(?:[*+-]|\d{1,9}[.)])(?: |$)|> ?)/, listReplaceNesting: /^ {1,4}(?=( {4})*[^ ])/g, listIsTask: /^\[[ xX]\][ \t]+\S/, listReplaceTask: /^\[[ xX]\][ \t]+/, listTaskCheckbox: /\[[ xX]\]/, anyLine: /\n.*\n/, hrefBrackets: /^<(.*)>$/, tableDelimiter: /[:|]/, tableAlignChars: /^\||\| *$/g, tableRowBlankLine: /\n[ \t]*$/, tableAlignRight: /^ *-+: *$/, tableAlignCenter: /^ *:-+: *$/, tableAlignLeft: /^ *:-+ *$/, startATag: /^<a /i, endATag: /^<\/a>/i, startPreScriptTag: /^<(pre|code|kbd|script)(\s|>)/i, endPreScriptTag: /^<\/(pre|code|kbd|script)(\s|>)/i, startAngleBracket: /^</, endAngleBracket: />$/, pedanticHrefTitle: /^([^'"]*[^\s])\s+(['"])(.*)\2/, unicodeAlphaNumeric: /[\p{L}\p{N}]/u, numericCharacterReference: /&#(?:(\d{1,7})|[Xx]([A-Fa-f0-9]{1,6}));/, numericCharacterReferenceOrAmpersand: /&#(?:(\d{1,7})|[Xx]([A-Fa-f0-9]{1,6}));|&(?!(#\d{1,7}|#[Xx][a-fA-F0-9]{1,6}|\w+);)/g, escapeTest: /[&<>"']/, escapeReplace: /[&<>"']/g, escapeTestNoEncode: /[<>"']|&(?!(#\d{1,7}|#[Xx][a-fA-F0-9]{1,6}|\w+);)/, escapeReplaceNoEncode: /[<>"']|&(?!(#\d{1,7}|#[Xx][a-fA-F0-9]{1,6}|\w+);)/g, caret: /(^|[^\[])\^/g, percentDecode: /%25/g, findPipe: /\|/g, splitPipe: / \|/, slashPipe: /\\\|/g, carriageReturn: /\r\n|\r/g, spaceLine: /^ +$/gm, notSpaceStart: /^\S*/, endingNewline: /\n$/, listItemRegex: (l4) => new RegExp(`^( {0,3}${l4})((?:[	 ][^\\n]*)?(?:\\n|$))`), nextBulletRegex: D2((l4) => new RegExp(`^ {0,${l4}}(?:[*+-]|\\d{1,9}[.)])((?:[ 	][^\\n]*)?(?:\\n|$))`)), hrRegex: D2((l4) => new RegExp(`^ {0,${l4}}((?:-[ 	]*){3,}|(?:_[ 	]*){3,}|(?:\\*[ 	]*){3,})(?:\\n+|$)`)), fencesBeginRegex: D2((l4) => new RegExp(`^ {0,${l4}}(?:\`\`\`|~~~)`)), headingBeginRegex: D2((l4) => new RegExp(`^ {0,${l4}}#{1,6}(?:\\s|$)`)), pedanticHeadingBeginRegex: D2((l4) => new RegExp(`^ {0,${l4}}#`)), htmlBeginRegex: D2((l4) => new RegExp(`^ {0,${l4}}(?:</?(?:${he})(?:[ \\t]+|$|/?>)|<(?:(?:script|pre|style|textarea)(?:[\\s>]|$)|!--)|<\\?|<![A-Za-z]|<!\\[CDATA\\[)`, "i")), blockquoteBeginRegex: D2((l4) => new RegExp(`^ {0,${l4}}>`)), nestedContainerMarkers: /^(?: {0,3}(?:(?:[*+-]|\d{1,9}[.)])[ \t]+|>[ \t]?))+/ };
var Ge = /^(?:[ \t]*(?:\n|$))+/;
var Ne = /^((?: {4}| {0,3}\t)[^\n]+(?:\n(?:[ \t]*(?:\n|$))*)?)+/;
var Fe = /^ {0,3}(`{3,}(?=[^`\n]*(?:\n|$))|~{3,})([^\n]*)(?:\n|$)(?:|([\s\S]*?)(?:\n|$))(?: {0,3}(?:(?=`)\1`*|(?=~)\1~*) *(?=\n|$)|$)/;
var V2 = /^ {0,3}((?:-[\t ]*){3,}|(?:_[ \t]*){3,}|(?:\*[ \t]*){3,})(?:\n+|$)/;
var Qe = /^ {0,3}(#{1,6})(?=\s|$)(.*)(?:\n+|$)/;
var ce = / {0,3}(?:[*+-]|\d{1,9}[.)])/;
var he = "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|meta|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul";
var J2 = g2(" {0,3}(?:</?(?:tag)(?:[ \\t]+|\\n|/?>)|<(?:(?:script|pre|style|textarea)(?:[\\s>]|$)|!--)|<\\?|<![A-Za-z]|<!\\[CDATA\\[)").replace("tag", he).getRegex();
var $e = /^(?!bull |blockCode|fences|blockquote|heading|html|table)((?:.|\n(?!\s*?\n|bull |fences|blockquote|heading|hr|html|table))+?)\n {0,3}(=+|-+)[ \t]*(?:\n+|$)/;
var Le = g2($e).replace(/bull/g, ce).replace(/blockCode/g, /(?: {4}| {0,3}\t)/).replace(/fences/g, / {0,3}(?:`{3,}|~{3,})/).replace(/blockquote/g, / {0,3}>/).replace(/heading/g, / {0,3}#{1,6}(?:\s|$)/).replace(/hr/g, / {0,3}(?:(?:-[\t ]*){3,}|(?:_[ \t]*){3,}|(?:\*[ \t]*){3,})(?:\n+|$)/).replace(/\|table/g, "").replace(/html/g, J2).getRegex();
var We = g2($e).replace(/bull/g, ce).replace(/blockCode/g, /(?: {4}| {0,3}\t)/).replace(/fences/g, / {0,3}(?:`{3,}|~{3,})/).replace(/blockquote/g, / {0,3}>/).replace(/heading/g, / {0,3}#{1,6}(?:\s|$)/).replace(/hr/g, / {0,3}(?:(?:-[\t ]*){3,}|(?:_[ \t]*){3,}|(?:\*[ \t]*){3,})(?:\n+|$)/).replace(/table/g, / {0,3}\|?(?:[:\- ]*\|)+[\:\- ]*\n/).replace(/html/g, J2).getRegex();
var de = /^([^\n]+(?:\n(?!hr|heading|lheading|blockquote|fences|list|html|table|[ \t]+\n)[^\n]+)*)/;
var Ue = /^[^\n]+/;
var ge = /(?!\s*\])(?:\\[\s\S]|[^\[\]\\\n]|\n(?![ \t]*\n))+/;
var Ke = g2(/^ {0,3}\[(label)\]: *(?:\n[ \t]*)?([^<\s][^\s]*|<(?:\\.|[^\n<>\\])*>)(?:(?: +(?:\n[ \t]*)?| *\n[ \t]*)(title))? *(?:\n+|$)/).replace("label", ge).replace("title", /(?:"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\\n]|\n(?!\n))*'|\((?:\\[\s\S]|[^()\\])*\))/).getRegex();
var Xe = g2(/^(bull)([ \t][^\n]*?)?(?:\n|$)/).replace(/bull/g, ce).getRegex();
var ke = /<!--(?:-?>|[\s\S]*?(?:-->|$))/;
var Ve = g2("^ {0,3}(?:<(script|pre|style|textarea)[\\s>][\\s\\S]*?(?:</\\1>[^\\n]*\\n*|$)|comment[^\\n]*(\\n+|$)|<\\?[\\s\\S]*?(?:\\?>[^\\n]*\\n*|$)|<![A-Z][\\s\\S]*?(?:>[^\\n]*\\n*|$)|<!\\[CDATA\\[[\\s\\S]*?(?:\\]\\]>[^\\n]*\\n*|$)|</?(tag)(?:[ \\t]+|\\n|/?>|$)[\\s\\S]*?(?:(?:\\n[ 	]*)+\\n|$)|<(?!(?:script|pre|style|textarea)(?![a-z0-9-]))([a-z][a-z0-9-]*)(?:attribute)*?[ \\t]*/?>(?=[ \\t]*(?:\\n|$))[\\s\\S]*?(?:(?:\\n[ 	]*)+\\n|$)|</[a-z][a-z0-9-]*\\s*>(?=[ \\t]*(?:\\n|$))[\\s\\S]*?(?:(?:\\n[ 	]*)+\\n|$))", "i").replace("comment", ke).replace("tag", he).replace("attribute", /[ \t]+[a-zA-Z:_][\w.:-]*(?:[ \t]*=[ \t]*"[^"\n]*"|[ \t]*=[ \t]*'[^'\n]*'|[ \t]*=[ \t]*[^\s"'=<>`]+)?/).getRegex();
var Ce = (l4) => g2(de).replace("hr", V2).replace("heading", " {0,3}#{1,6}(?:\\s|$)").replace("|lheading", "").replace("|table", "").replace("blockquote", " {0,3}>").replace("fences", " {0,3}(?:`{3,}(?=[^`\\n]*(?:\\n|$))|~~~)[^\\n]*(?:\\n|$)").replace("list", l4).replace("html", J2).getRegex();
var Je = Ce(/ {0,3}(?:[*+-]|1[.)])[ \t]+[^ \t\n]/);
var Ye = Ce(/ {0,3}(?:[*+-]|\d{1,9}[.)])(?:[ \t]|\n|$)/);
var et = g2(/^( {0,3}> ?(?:(?![ \t]*(?:\n|$))(paragraph)|[^\n]*)(?:\n|$))+/).replace("paragraph", Ye).getRegex();
var fe = { blockquote: et, code: Ne, def: Ke, fences: Fe, heading: Qe, hr: V2, html: Ve, lheading: Le, list: Xe, newline: Ge, paragraph: Je, table: q2, text: Ue };
var Pe = g2("^ *([^\\n ].*)\\n {0,3}((?:\\| *)?:?-+:? *(?:\\| *:?-+:? *)*(?:\\| *)?)(?:\\n((?:(?! *\\n|hr|heading|blockquote|code|fences|list|html).*(?:\\n|$))*)\\n*|$)").replace("hr", V2).replace("heading", " {0,3}#{1,6}(?:\\s|$)").replace("blockquote", " {0,3}>").replace("code", "(?: {4}| {0,3}	)[^\\n]").replace("fences", " {0,3}(?:`{3,}(?=[^`\\n]*(?:\\n|$))|~~~)[^\\n]*(?:\\n|$)").replace("list", " {0,3}(?:[*+-]|1[.)])[ \\t]").replace("html", J2).getRegex();
var tt = { ...fe, lheading: We, table: Pe, paragraph: g2(de).replace("hr", V2).replace("heading", " {0,3}#{1,6}(?:\\s|$)").replace("|lheading", "").replace("table", Pe).replace("blockquote", " {0,3}>").replace("fences", " {0,3}(?:`{3,}(?=[^`\\n]*(?:\\n|$))|~~~)[^\\n]*(?:\\n|$)").replace("list", " {0,3}(?:[*+-]|1[.)])[ \\t]+[^ \\t\\n]").replace("html", J2).getRegex() };
var nt = { ...fe, html: g2(`^ *(?:comment(?: *\\n|\\s*$)|<(tag)[\\s\\S]+?</\\1>(?: *\\n{2,}|\\s*$)|<tag(?:"[^"]*"|'[^']*'|\\s[^'"/>\\s]*)*?/?>(?: *\\n{2,}|\\s*$))`).replace("comment", ke).replace(/tag/g, "(?!(?:a|em|strong|small|s|cite|q|dfn|abbr|data|time|code|var|samp|kbd|sub|sup|i|b|u|mark|ruby|rt|rp|bdi|bdo|span|br|wbr|ins|del|img)\\b)\\w+(?!:|[^\\w\\s@]*@)\\b").getRegex(), def: /^ *\[([^\]]+)\]: *<?([^\s>]+)>?(?: +(["(][^\n]+[")]))? *(?:\n+|$)/, heading: /^(#{1,6})(.*)(?:\n+|$)/, fences: q2, lheading: /^(.+?)\n {0,3}(=+|-+) *(?:\n+|$)/, paragraph: g2(de).replace("hr", V2).replace("heading", ` *#{1,6} *[^
]`).replace("|table", "").replace("blockquote", " {0,3}>").replace("|fences", "").replace("|list", "").replace("|html", "").replace("|tag", "").replace("lheading", Le).getRegex() };
var rt = /^\\([!"#$%&'()*+,\-./:;<=>?@\[\]\\^_`{|}~])/;
var st = /^(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)/;
var Ie = /^( {2,}|\\)\n(?!\s*$)[ \t]*/;
var it = /^(`+|[^`])(?:(?= {2,}\n)|[\s\S]*?(?:(?=[\\<!\[`*_]|\b_|$)|[^ ](?= {2,}\n)))/;
var L2 = /[\p{P}\p{S}]/u;
var N2 = /[\s\p{P}\p{S}]/u;
var Y = /[^\s\p{P}\p{S}]/u;
var ot = g2(/^((?![*_])punctSpace)/, "u").replace(/punctSpace/g, N2).getRegex();
var at = /[\p{Pi}\p{Ps}"']/u;
var Ae = /(?!~)[\p{P}\p{S}]/u;
var lt = /(?!~)[\s\p{P}\p{S}]/u;
var ut = /(?:[^\s\p{P}\p{S}]|~)/u;
var pt = g2(/link|precode-code|html/, "g").replace("link", /\[(?:[^\[\]`]|(?<a>`+)[^`]+\k<a>(?!`))*?\]\((?:\\[\s\S]|[^\\\(\)]|\((?:\\[\s\S]|[^\\\(\)])*\))*\)/).replace("precode-", _e ? "(?<!`)()" : "(^^|[^`])").replace("code", /(?<b>`+)[^`]+\k<b>(?!`)/).replace("html", /<(?! )[^<>]*?>/).getRegex();
var Ee = /^(?:\*+(?:((?!\*)punct)|([^\s*]))?)|^_+(?:((?!_)punct)|([^\s_]))?/;
var ct = g2(Ee, "u").replace(/punct/g, L2).getRegex();
var ht = g2(Ee, "u").replace(/punct/g, Ae).getRegex();
var dt = /^(?:\*+(?:((?!\*)(?!openQuote)punct)|([^\s*]))?)|^_+(?:((?!_)(?!openQuote)punct)|([^\s_]))?/;
var gt = g2(dt, "u").replace(/openQuote/g, at).replace(/punct/g, L2).getRegex();
var ze = "^[^_*]*?__[^_*]*?\\*[^_*]*?(?=__)|[^*]+(?=[^*])|(?!\\*)punct(\\*+)(?=[\\s]|$)|notPunctSpace(\\*+)(?!\\*)(?=punctSpace|$)|(?!\\*)punctSpace(\\*+)(?=notPunctSpace)|[\\s](\\*+)(?!\\*)(?=punct)|(?!\\*)punct(\\*+)(?!\\*)(?=punct)|notPunctSpace(\\*+)(?=notPunctSpace)";
var kt = g2(ze, "gu").replace(/notPunctSpace/g, Y).replace(/punctSpace/g, N2).replace(/punct/g, L2).getRegex();
var ft = g2(ze, "gu").replace(/notPunctSpace/g, ut).replace(/punctSpace/g, lt).replace(/punct/g, Ae).getRegex();
var mt = "^[^_*]*?__[^_*]*?\\*[^_*]*?(?=__)|[^*]+(?=[^*])|(?!\\*)punct(\\*+)(?=[\\s]|$)|notPunctSpace(\\*+)(?!\\*)(?=punctSpace|$)|(?!\\*)[\\s](\\*+)(?=notPunctSpace)|[\\s](\\*+)(?!\\*)(?=punct)|(?!\\*)punct(\\*+)(?!\\*)(?=punct)|(?:(?!\\*)punct|notPunctSpace)(\\*+)(?!\\*)(?=notPunctSpace)";
var xt = g2(mt, "gu").replace(/notPunctSpace/g, Y).replace(/punctSpace/g, N2).replace(/punct/g, L2).getRegex();
var bt = g2("^[^_*]*?\\*\\*[^_*]*?_[^_*]*?(?=\\*\\*)|[^_]+(?=[^_])|(?!_)punct(_+)(?=[\\s]|$)|notPunctSpace(_+)(?!_)(?=punctSpace|$)|(?!_)punctSpace(_+)(?=notPunctSpace)|[\\s](_+)(?!_)(?=punct)|(?!_)punct(_+)(?!_)(?=punct)", "gu").replace(/notPunctSpace/g, Y).replace(/punctSpace/g, N2).replace(/punct/g, L2).getRegex();
var Rt = "^[^_*]*?\\*\\*[^_*]*?_[^_*]*?(?=\\*\\*)|[^_]+(?=[^_])|(?!_)punct(_+)(?=[\\s]|$)|notPunctSpace(_+)(?!_)(?=punctSpace|$)|(?!_)[\\s](_+)(?=notPunctSpace)|[\\s](_+)(?!_)(?=punct)|(?!_)punct(_+)(?!_)(?=punct)|(?:(?!_)punct|notPunctSpace)(_+)(?!_)(?=notPunctSpace)";
var Tt = g2(Rt, "gu").replace(/notPunctSpace/g, Y).replace(/punctSpace/g, N2).replace(/punct/g, L2).getRegex();
var Ot = g2(/^~~?(?:((?!~)punct)|[^\s~])/, "u").replace(/punct/g, L2).getRegex();
var wt = "^[^~]+(?=[^~])|(?!~)punct(~~?)(?=[\\s]|$)|notPunctSpace(~~?)(?!~)(?=punctSpace|$)|(?!~)punctSpace(~~?)(?=notPunctSpace)|[\\s](~~?)(?!~)(?=punct)|(?!~)punct(~~?)(?!~)(?=punct)|notPunctSpace(~~?)(?=notPunctSpace)";
var Pt = g2(wt, "gu").replace(/notPunctSpace/g, Y).replace(/punctSpace/g, N2).replace(/punct/g, L2).getRegex();
var yt = g2(/\\(punct)/, "gu").replace(/punct/g, L2).getRegex();
var St = g2(/(`+)(?:[^`]|[^`][\s\S]*?[^`])\1(?!`)|`+|\\(punct)/, "gu").replace(/punct/g, L2).getRegex();
var _t = g2(/^<(scheme:[^\s\x00-\x1f<>]*|email)>/).replace("scheme", /[a-zA-Z][a-zA-Z0-9+.-]{1,31}/).replace("email", /[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+(@)[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)+(?![-_])/).getRegex();
var $t = g2(ke).replace("(?:-->|$)", "-->").getRegex();
var Lt = g2("^comment|^</[a-zA-Z][a-zA-Z0-9-]*\\s*>|^<[a-zA-Z][a-zA-Z0-9-]*(?:attribute)*?\\s*/?>|^<\\?[\\s\\S]*?\\?>|^<![a-zA-Z]+\\s[\\s\\S]*?>|^<!\\[CDATA\\[[\\s\\S]*?\\]\\]>").replace("comment", $t).replace("attribute", /\s+[a-zA-Z:_][\w.:-]*(?:\s*=\s*"[^"]*"|\s*=\s*'[^']*'|\s*=\s*[^\s"'=<>`]+)?/).getRegex();
var Me = /\[(?:\\[\s\S]|[^\[\]\\])*\]/;
var ie = g2(/(?:\[(?:brackets|\\[\s\S]|[^\[\]\\])*\]|\\[\s\S]|`+(?!`)[^`]*?`+(?!`)|``+(?=\])|[^\[\]\\`])*?/).replace("brackets", Me).getRegex();
var Ct = g2(/^!?\[(label)\]\([ \t\n]*(href)(?:(?:[ \t]+(?:\n[ \t]*)?|\n[ \t]*)(title))?[ \t\n]*\)/).replace("label", ie).replace("href", /<(?:\\.|[^\n<>\\])*>|(?!<)[^ \t\n\x00-\x1f]+|(?=\))/).replace("title", /"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*'|\((?:\\[\s\S]|[^)\\])*\)/).getRegex();
var It = g2(/^!?\[(label)\]\[(ref)\]/).replace("label", ie).replace("ref", ge).getRegex();
var At = g2(/^!?\[(ref)\](?:\[\])?/).replace("ref", ge).getRegex();
var ye = /(?!\s*\])(?:\\[\s\S]|[^\[\]\\]){1,999}/;
var Et = g2(/(?:[^\[\]\\`]*(?:\[(?:brackets|\\[\s\S]|[^\[\]\\])*\]|\\[\s\S]|`+(?!`)[^`]*?`+(?!`)|``+(?=\]))){0,999}?[^\[\]\\`]*?/).replace("brackets", Me).getRegex();
var zt = g2("reflink|nolink(?!\\()", "g").replace("reflink", g2(/^!?\[(label)\]\[(ref)\]/).replace("label", Et).replace("ref", ye).getRegex()).replace("nolink", g2(/^!?\[(ref)\](?:\[\])?/).replace("ref", ye).getRegex()).getRegex();
var Se = /[hH][tT][tT][pP][sS]?|[fF][tT][pP]/;
var Mt = /[A-Za-z0-9._+-]+@[a-zA-Z0-9-_]+(?:\.[a-zA-Z0-9-_]*[a-zA-Z0-9])+(?![\w-])/;
var Bt = g2(/(?:mailto:email|xmpp:email(?:\/[A-Za-z0-9@.]+)?)/).replace(/email/g, Mt).getRegex();
var me = { _backpedal: q2, anyPunctuation: yt, anyPunctuationOutsideCode: St, autolink: _t, blockSkip: pt, br: Ie, code: st, del: q2, delLDelim: q2, delRDelim: q2, emStrongLDelim: ct, emStrongRDelimAst: kt, emStrongRDelimUnd: bt, escape: rt, link: Ct, nolink: At, punctuation: ot, reflink: It, reflinkSearch: zt, tag: Lt, text: it, url: q2 };
var Dt = { ...me, emStrongLDelim: gt, emStrongRDelimAst: xt, emStrongRDelimUnd: Tt, link: g2(/^!?\[(label)\]\((.*?)\)/).replace("label", ie).getRegex(), reflink: g2(/^!?\[(label)\]\s*\[([^\]]*)\]/).replace("label", ie).getRegex() };
var pe = { ...me, emStrongRDelimAst: ft, emStrongLDelim: ht, delLDelim: Ot, delRDelim: Pt, url: g2(/^emailProtocol|^((?:protocol):\/\/|www\.)(?:[a-zA-Z0-9\-]+\.?)+[^\s<]*|^email/).replace("emailProtocol", Bt).replace("protocol", Se).replace("email", /[A-Za-z0-9._+-]+(@)[a-zA-Z0-9-_]+(?:\.[a-zA-Z0-9-_]*[a-zA-Z0-9])+(?![\w-])/).getRegex(), _backpedal: /(?:[^?!.,:;*_'"~()&]+|\([^)]*\)|&(?![a-zA-Z0-9]+;$)|[?!.,:;*_'"~)]+(?!$))+/, del: /^(~~?)(?=[^\s~])((?:\\[\s\S]|[^\\])*?(?:\\[\s\S]|[^\s~\\]))\1(?=[^~]|$)/, text: g2(/^(?:[^a-zA-Z0-9](?=emailProtocol)|(`+|~+|[^`~])(?:(?=[`~])|(?= {2,}\n)|(?=[a-zA-Z0-9.!#$%&'*+\/=?_`{\|}~-]+@)|[\s\S]*?(?:(?=[\\<!\[`*~_]|\b_|protocol:\/\/|wwwStart|$)|[^ ](?= {2,}\n)|[^a-zA-Z0-9](?=emailProtocol)|[^a-zA-Z0-9.!#$%&'*+\/=?_`{\|}~-](?=[a-zA-Z0-9.!#$%&'*+\/=?_`{\|}~-]+@))))/).replace("protocol", Se).replace(/emailProtocol/g, /(?:mailto|xmpp):/).replace("wwwStart", _e ? "(?<![^\\s*_~(])www\\." : "www\\.").getRegex() };
var qt = { ...pe, br: g2(Ie).replace("{2,}", "*").getRegex(), text: g2(pe.text).replace("\\b_", "\\b_| {2,}\\n").replace(/\{2,\}/g, "*").getRegex() };
var ee = { normal: fe, gfm: tt, pedantic: nt };
var F2 = { normal: me, gfm: pe, breaks: qt, pedantic: Dt };
var vt = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
var Be = (l4) => vt[l4];
function y2(l4, e2) {
  if (e2) {
    if (O.escapeTest.test(l4)) return l4.replace(O.escapeReplace, Be);
  } else if (O.escapeTestNoEncode.test(l4)) return l4.replace(O.escapeReplaceNoEncode, Be);
  return l4;
}
function De(l4) {
  return O.numericCharacterReference.test(l4) ? l4.replace(O.numericCharacterReferenceOrAmpersand, (e2, t2, n2) => {
    if (t2 === void 0 && n2 === void 0) return "&amp;";
    let r2 = t2 === void 0 ? Number.parseInt(n2, 16) : Number.parseInt(t2, 10);
    return r2 === 0 || r2 > 1114111 || r2 >= 55296 && r2 <= 57343 ? "�" : r2 === 38 ? "&amp;" : String.fromCodePoint(r2);
  }) : l4;
}
function xe(l4) {
  try {
    l4 = encodeURI(l4).replace(O.percentDecode, "%");
  } catch {
    return null;
  }
  return l4;
}
function be(l4, e2) {
  let t2 = l4.replace(O.findPipe, (s2, o3, i2) => {
    let a3 = false, c2 = o3;
    for (; --c2 >= 0 && i2[c2] === "\\"; ) a3 = !a3;
    return a3 ? "|" : " |";
  }), n2 = t2.split(O.splitPipe), r2 = 0;
  if (n2[0].trim() || n2.shift(), n2.length > 0 && !n2.at(-1)?.trim() && n2.pop(), e2) if (n2.length > e2) n2.splice(e2);
  else for (; n2.length < e2; ) n2.push("");
  for (; r2 < n2.length; r2++) n2[r2] = n2[r2].trim().replace(O.slashPipe, "|");
  return n2;
}
function C2(l4, e2, t2) {
  let n2 = l4.length;
  if (n2 === 0) return "";
  let r2 = 0;
  for (; r2 < n2; ) {
    let s2 = l4.charAt(n2 - r2 - 1);
    if (s2 === e2 && !t2) r2++;
    else if (s2 !== e2 && t2) r2++;
    else break;
  }
  return l4.slice(0, n2 - r2);
}
function Re(l4) {
  let e2 = l4.split(`
`), t2 = e2.length - 1;
  for (; t2 >= 0 && O.blankLine.test(e2[t2]); ) t2--;
  return e2.length - t2 <= 2 ? l4 : e2.slice(0, t2 + 1).join(`
`);
}
function W(l4) {
  return l4.trim().replace(O.multipleSpaceGlobal, " ").toLowerCase().toUpperCase().toLowerCase();
}
function Te(l4, e2) {
  if (l4.indexOf(e2[0]) === -1 && l4.indexOf(e2[1]) === -1) return -1;
  let t2 = 0;
  for (let n2 = 0; n2 < l4.length; n2++) if (l4[n2] === "\\") n2++;
  else if (l4[n2] === e2[0]) t2++;
  else if (l4[n2] === e2[1] && (t2--, t2 < 0)) return n2;
  return t2 > 0 ? -2 : -1;
}
var Q2 = /* @__PURE__ */ new WeakMap();
function Oe(l4) {
  let e2 = { "*": -1, _: -1 }, t2 = -1, n2 = l4.length;
  for (let r2 = 0; r2 < n2; r2++) {
    let s2 = l4[r2];
    if (s2 !== "*" && s2 !== "_" && s2 !== "~") continue;
    let o3 = r2 === 0 ? `
` : l4[r2 - 1], i2 = r2 + 1;
    for (; i2 < n2 && l4[i2] === s2; ) i2++;
    o3 !== " " && o3 !== "	" && o3 !== `
` && o3 !== "\r" && o3 !== "\f" && (s2 === "~" ? t2 = r2 : e2[s2] = r2), r2 = i2 - 1;
  }
  return { maskedSrc: l4, lastPossibleEmStrongCloserIndex: e2, lastPossibleDelCloserIndex: t2 };
}
function qe(l4, e2) {
  let t2 = Oe(e2), n2 = Q2.get(l4);
  n2 ? n2.push(t2) : Q2.set(l4, [t2]);
}
function ve(l4) {
  let e2 = Q2.get(l4);
  e2 && (e2.pop(), e2.length === 0 && Q2.delete(l4));
}
function oe(l4, e2, t2) {
  let n2 = Q2.get(l4)?.at(-1);
  return n2 && n2.maskedSrc === e2 ? n2.lastPossibleEmStrongCloserIndex[t2] : Oe(e2).lastPossibleEmStrongCloserIndex[t2];
}
function ae(l4, e2) {
  let t2 = Q2.get(l4)?.at(-1);
  return t2 && t2.maskedSrc === e2 ? t2.lastPossibleDelCloserIndex : Oe(e2).lastPossibleDelCloserIndex;
}
function te(l4, e2 = 0) {
  let t2 = e2, n2 = "";
  for (let r2 of l4) if (r2 === "	") {
    let s2 = 4 - t2 % 4;
    n2 += " ".repeat(s2), t2 += s2;
  } else n2 += r2, t2++;
  return n2;
}
function Ht(l4, e2) {
  let t2 = "";
  for (let n2 = 0; n2 < l4.length; n2++) {
    if (l4[n2] === "`") {
      let r2 = e2.inline.code.exec(l4.slice(n2));
      if (r2) {
        t2 += r2[0], n2 += r2[0].length - 1;
        continue;
      }
    }
    if (l4[n2] === "\\" && (l4[n2 + 1] === "[" || l4[n2 + 1] === "]")) {
      t2 += l4[n2 + 1], n2++;
      continue;
    }
    t2 += l4[n2];
  }
  return t2;
}
function He(l4, e2, t2, n2, r2) {
  let s2 = e2.href, o3 = e2.title || null, i2 = Ht(l4[1], r2), a3 = l4[0].charAt(0) === "!", c2 = n2.state.inLink, u2 = n2.state.linkEmitted, d2 = n2.state.inRawBlock;
  n2.state.inLink = true, n2.state.linkEmitted = false;
  let h2 = n2.inlineTokens(i2), p2 = n2.state.linkEmitted;
  if (n2.state.linkEmitted = u2, n2.state.inLink = c2, !a3) {
    if (p2) {
      n2.state.inRawBlock = d2;
      return;
    }
    n2.state.linkEmitted = true;
  }
  return { type: a3 ? "image" : "link", raw: t2, href: s2, title: o3, text: i2, tokens: h2 };
}
function Zt(l4, e2, t2) {
  let n2 = l4.match(t2.other.indentCodeCompensation);
  if (n2 === null) return e2;
  let r2 = n2[1];
  return e2.split(`
`).map((s2) => {
    let o3 = s2.match(t2.other.beginningSpace);
    if (o3 === null) return s2;
    let [i2] = o3;
    return s2.slice(Math.min(i2.length, r2.length));
  }).join(`
`);
}
function Ze(l4, e2, t2, n2) {
  if (!e2.includes("<")) return false;
  for (let r2 = 0; r2 < e2.length; r2++) {
    if (e2[r2] === "\\") {
      r2++;
      continue;
    }
    if (e2[r2] === "`") {
      let i2 = n2.inline.code.exec(e2.slice(r2));
      if (i2) {
        r2 += i2[0].length - 1;
        continue;
      }
    }
    if (e2[r2] !== "<") continue;
    let s2 = l4.slice(t2 + r2), o3 = n2.inline.tag.exec(s2) || n2.inline.autolink.exec(s2);
    if (o3) {
      if (o3[0].length > e2.length - r2) return true;
      r2 += o3[0].length - 1;
    }
  }
  return false;
}
var _2 = class {
  options;
  rules;
  lexer;
  constructor(e2) {
    this.options = e2 || S2;
  }
  space(e2) {
    let t2 = this.rules.block.newline.exec(e2);
    if (t2 && t2[0].length > 0) return { type: "space", raw: t2[0] };
  }
  code(e2) {
    let t2 = this.rules.block.code.exec(e2);
    if (t2) {
      let n2 = this.options.pedantic ? t2[0] : Re(t2[0]), r2 = n2.replace(this.rules.other.codeRemoveIndent, "");
      return { type: "code", raw: n2, codeBlockStyle: "indented", text: r2 };
    }
  }
  fences(e2) {
    let t2 = this.rules.block.fences.exec(e2);
    if (t2) {
      let n2 = t2[0], r2 = Zt(n2, t2[3] || "", this.rules);
      return t2[3] !== void 0 && (r2 === "" || r2.endsWith(`
`)) && (r2 += `
`), { type: "code", raw: n2, lang: t2[2] ? t2[2].trim().replace(this.rules.inline.anyPunctuation, "$1") : t2[2], text: r2 };
    }
  }
  heading(e2) {
    let t2 = this.rules.block.heading.exec(e2);
    if (t2) {
      let n2 = t2[2].trim();
      if (this.rules.other.endingHash.test(n2)) {
        let r2 = C2(n2, "#");
        (this.options.pedantic || !r2 || this.rules.other.endingSpaceTabChar.test(r2)) && (n2 = r2.trim());
      }
      return { type: "heading", raw: C2(t2[0], `
`), depth: t2[1].length, text: n2, tokens: this.lexer.inline(n2) };
    }
  }
  hr(e2) {
    let t2 = this.rules.block.hr.exec(e2);
    if (t2) return { type: "hr", raw: C2(t2[0], `
`) };
  }
  blockquote(e2) {
    let t2 = this.rules.block.blockquote.exec(e2);
    if (t2) {
      let n2 = C2(t2[0], `
`).split(`
`), r2 = "", s2 = "", o3 = [];
      for (; n2.length > 0; ) {
        let i2 = false, a3 = [], c2;
        for (c2 = 0; c2 < n2.length; c2++) if (this.rules.other.blockquoteStart.test(n2[c2])) a3.push(n2[c2]), i2 = true;
        else if (!i2) a3.push(n2[c2]);
        else break;
        n2 = n2.slice(c2);
        let u2 = a3.join(`
`), d2 = u2.replace(this.rules.other.blockquoteMarkerWhitespace, (k, m2, b) => b.startsWith(" ") ? m2 + " " + b.slice(1) : m2 + te(b, m2.length)).replace(this.rules.other.blockquoteSetextReplace, `
    $1`).replace(this.rules.other.blockquoteSetextReplace2, "");
        r2 = r2 ? `${r2}
${u2}` : u2, s2 = s2 ? `${s2}
${d2}` : d2;
        let h2 = this.lexer.state.top;
        if (this.lexer.state.top = true, this.lexer.blockTokens(d2, o3, true), this.lexer.state.top = h2, n2.length === 0) break;
        let p2 = o3.at(-1);
        if (p2?.type === "code" || p2?.type === "heading" || p2?.type === "hr" || p2?.type === "html" || p2?.type === "table") break;
        if (p2?.type === "blockquote") {
          let k = p2, m2 = n2.join(`
`), b = k.raw + `
` + m2.replace(this.rules.other.blockquoteSetextReplace2, ""), f3 = this.blockquote(b);
          o3[o3.length - 1] = f3;
          let R = b.substring(f3.raw.length).replace(/^\n/, ""), E2 = R ? R.split(`
`).length : 0, T2 = E2 ? n2.slice(0, -E2) : n2;
          if (T2.length > 0 && (r2 = `${r2}
${T2.join(`
`)}`), s2 = s2.substring(0, s2.length - k.text.length) + f3.text, n2 = n2.slice(T2.length), n2.length > 0 && this.rules.other.blockquoteStart.test(n2[0])) continue;
          break;
        } else if (p2?.type === "list") {
          let k = p2, m2 = k.raw + `
` + n2.join(`
`), b = this.list(m2);
          o3[o3.length - 1] = b;
          let f3 = b.raw.length > k.raw.length ? m2.slice(k.raw.length + 1, b.raw.length).split(`
`).length : 0;
          if (f3 > 0) {
            let R = n2.slice(0, f3).join(`
`);
            r2 = `${r2}
${R}`, s2 = `${s2}
${R}`;
          }
          if (n2 = n2.slice(f3), n2.length > 0 && !this.rules.other.blockquoteStart.test(n2[0])) break;
          continue;
        }
      }
      return { type: "blockquote", raw: r2, tokens: o3, text: s2 };
    }
  }
  list(e2) {
    let t2 = this.rules.block.list.exec(e2);
    if (t2) {
      if (!this.options.pedantic && this.lexer.state.lastToken?.type === "text" && !this.rules.other.listInterruptsParagraph.test(e2)) return;
      let n2 = e2, r2 = () => n2.length - e2.length, s2 = t2[1].trim(), o3 = s2.length > 1, i2 = { type: "list", raw: "", ordered: o3, start: o3 ? +s2.slice(0, -1) : "", loose: false, items: [] };
      s2 = o3 ? `\\d{1,9}\\${s2.slice(-1)}` : `\\${s2}`, this.options.pedantic && (s2 = o3 ? s2 : "[*+-]");
      let a3 = this.rules.other.listItemRegex(s2), c2 = false;
      for (; e2; ) {
        let h2 = false, p2 = "";
        if (!(t2 = a3.exec(e2)) || this.rules.block.hr.test(e2)) break;
        let k = r2();
        e2 = e2.substring(t2[0].length);
        let m2 = t2[2].split(`
`, 1)[0], b = t2[1].length, f3 = this.options.pedantic ? te(m2, b) : m2.replace(this.rules.other.leadingSpaceTab, (H2) => te(H2, b)), R = e2.split(`
`, 1)[0], E2 = !f3.trim(), T2 = 0;
        if (this.options.pedantic ? (T2 = 2, p2 = f3.trimStart()) : E2 ? T2 = b + 1 : (T2 = f3.search(this.rules.other.nonSpaceChar), T2 = T2 > 4 ? 1 : T2, p2 = f3.slice(T2), T2 += b), E2 && this.rules.other.blankLine.test(R) && (e2 = e2.substring(R.length + 1), h2 = true), !h2) {
          let H2 = this.rules.other.nextBulletRegex(T2), K2 = this.rules.other.hrRegex(T2), re = this.rules.other.fencesBeginRegex(T2), B2 = this.options.pedantic ? this.rules.other.pedanticHeadingBeginRegex(T2) : this.rules.other.headingBeginRegex(T2), X = this.rules.other.htmlBeginRegex(T2), se = this.rules.other.blockquoteBeginRegex(T2), le = false;
          for (; e2; ) {
            let we = e2.split(`
`, 1)[0], Z;
            if (R = we, this.options.pedantic ? (R = R.replace(this.rules.other.listReplaceNesting, "  "), Z = R) : Z = R.replace(this.rules.other.leadingSpaceTab, ($2) => te($2)), re.test(R) || B2.test(R) || X.test(R) || se.test(R) || H2.test(R) || K2.test(R)) break;
            if (Z.search(this.rules.other.nonSpaceChar) >= T2 || !R.trim()) p2 += `
` + Z.slice(T2), le = false;
            else {
              if (E2) break;
              let $2 = f3;
              if (!this.options.pedantic && !p2.includes(`
`) && !f3.includes("	")) {
                let j2;
                for (; !K2.test($2) && (j2 = this.rules.other.nestedBlockMarker.exec($2)); ) $2 = $2.slice(j2[0].length);
                if (!$2.trim()) break;
              }
              if ($2.replace(this.rules.other.tabCharGlobal, "    ").search(this.rules.other.nonSpaceChar) >= 4 || re.test($2) || B2.test($2) || X.test($2) || K2.test($2)) break;
              if (!this.options.pedantic && !le) {
                let j2 = f3.replace(this.rules.other.nestedContainerMarkers, "");
                if (this.rules.block.fences.test(j2) || this.rules.block.heading.test(j2) || this.rules.block.hr.test(j2)) break;
              }
              let je = !this.options.pedantic && /^ {0,3}(?:=+|-+) *$/.test(R) && this.rules.block.lheading.test(`${f3}
${R}`) ? `    ${Z.replace(/^ {0,3}/, "")}` : R;
              p2 += `
` + je, le = true;
            }
            E2 = !R.trim(), e2 = e2.substring(we.length + 1), f3 = Z.slice(T2);
          }
        }
        let U = n2.slice(k, r2());
        i2.loose || (c2 ? i2.loose = true : this.rules.other.doubleBlankLine.test(U) && (c2 = true)), i2.items.push({ type: "list_item", raw: U, task: !!this.options.gfm && this.rules.other.listIsTask.test(p2), loose: false, text: p2, tokens: [] });
      }
      let u2 = i2.items.at(-1);
      if (u2) u2.raw = u2.raw.trimEnd(), u2.text = u2.text.trimEnd();
      else return;
      i2.raw = n2.slice(0, r2()).trimEnd();
      let d2 = [];
      for (let h2 of i2.items) if (this.lexer.state.top = false, d2.push(this.lexer.inlineQueue.length), h2.tokens = this.lexer.blockTokens(h2.text, []), !i2.loose) {
        let p2 = h2.tokens.filter((m2) => m2.type === "space"), k = p2.length > 0 && p2.some((m2) => this.rules.other.anyLine.test(m2.raw));
        i2.loose = k;
      }
      for (let h2 = 0; h2 < i2.items.length; h2++) {
        let p2 = i2.items[h2], k = p2.tokens[0];
        if (p2.task && (k?.type === "text" || k?.type === "paragraph")) {
          p2.text = p2.text.replace(this.rules.other.listReplaceTask, ""), k.raw = k.raw.replace(this.rules.other.listReplaceTask, ""), k.text = k.text.replace(this.rules.other.listReplaceTask, "");
          let m2 = this.lexer.inlineQueue;
          for (let f3 = d2[h2]; f3 < m2.length; f3++) if (m2[f3].tokens === k.tokens) {
            m2[f3].src = m2[f3].src.replace(this.rules.other.listReplaceTask, "");
            break;
          }
          let b = this.rules.other.listTaskCheckbox.exec(p2.raw);
          if (b) {
            let f3 = { type: "checkbox", raw: b[0] + " ", checked: b[0] !== "[ ]" };
            p2.checked = f3.checked, i2.loose ? p2.tokens[0] && ["paragraph", "text"].includes(p2.tokens[0].type) && "tokens" in p2.tokens[0] && p2.tokens[0].tokens ? (p2.tokens[0].raw = f3.raw + p2.tokens[0].raw, p2.tokens[0].text = f3.raw + p2.tokens[0].text, p2.tokens[0].tokens.unshift(f3)) : p2.tokens.unshift({ type: "paragraph", raw: f3.raw, text: f3.raw, tokens: [f3] }) : p2.tokens.unshift(f3);
          }
        } else p2.task && (p2.task = false);
      }
      if (i2.loose) for (let h2 of i2.items) {
        h2.loose = true;
        for (let p2 of h2.tokens) p2.type === "text" && (p2.type = "paragraph");
      }
      return i2;
    }
  }
  html(e2) {
    let t2 = this.rules.block.html.exec(e2);
    if (t2) {
      if (this.lexer.state.lastToken?.type === "paragraph" && !this.rules.other.htmlBeginRegex(4).test(e2)) return;
      let n2 = Re(t2[0]);
      return { type: "html", block: true, raw: n2, pre: t2[1] === "pre" || t2[1] === "script" || t2[1] === "style", text: n2 };
    }
  }
  def(e2) {
    let t2 = this.rules.block.def.exec(e2);
    if (t2) {
      if (!this.rules.other.startAngleBracket.test(t2[2]) && Te(t2[2], "()") !== -1) return;
      let n2 = W(t2[1]), r2 = t2[2] ? t2[2].replace(this.rules.other.hrefBrackets, "$1").replace(this.rules.inline.anyPunctuation, "$1") : "", s2 = t2[3] ? t2[3].substring(1, t2[3].length - 1).replace(this.rules.inline.anyPunctuation, "$1") : t2[3];
      return { type: "def", tag: n2, raw: C2(t2[0], `
`), href: r2, title: s2 };
    }
  }
  table(e2) {
    let t2 = this.rules.block.table.exec(e2);
    if (!t2 || !this.rules.other.tableDelimiter.test(t2[2])) return;
    let n2 = be(t2[1]), r2 = t2[2].replace(this.rules.other.tableAlignChars, "").split("|"), s2 = t2[3]?.trim() ? t2[3].replace(this.rules.other.tableRowBlankLine, "").split(`
`) : [], o3 = { type: "table", raw: C2(t2[0], `
`), header: [], align: [], rows: [] };
    if (n2.length === r2.length) {
      for (let i2 of r2) this.rules.other.tableAlignRight.test(i2) ? o3.align.push("right") : this.rules.other.tableAlignCenter.test(i2) ? o3.align.push("center") : this.rules.other.tableAlignLeft.test(i2) ? o3.align.push("left") : o3.align.push(null);
      for (let i2 = 0; i2 < n2.length; i2++) o3.header.push({ text: n2[i2], tokens: this.lexer.inline(n2[i2]), header: true, align: o3.align[i2] });
      for (let i2 of s2) o3.rows.push(be(i2, o3.header.length).map((a3, c2) => ({ text: a3, tokens: this.lexer.inline(a3), header: false, align: o3.align[c2] })));
      return o3;
    }
  }
  lheading(e2) {
    let t2 = this.rules.block.lheading.exec(e2);
    if (t2) {
      let n2 = t2[1].trim();
      return { type: "heading", raw: C2(t2[0], `
`), depth: t2[2].charAt(0) === "=" ? 1 : 2, text: n2, tokens: this.lexer.inline(n2) };
    }
  }
  paragraph(e2) {
    let t2 = this.rules.block.paragraph.exec(e2);
    if (t2) {
      let n2 = t2[1].charAt(t2[1].length - 1) === `
` ? t2[1].slice(0, -1) : t2[1];
      return { type: "paragraph", raw: t2[0], text: n2, tokens: this.lexer.inline(n2) };
    }
  }
  text(e2) {
    let t2 = this.rules.block.text.exec(e2);
    if (t2) return { type: "text", raw: t2[0], text: t2[0], tokens: this.lexer.inline(t2[0]) };
  }
  escape(e2) {
    if (e2.charCodeAt(0) !== 92) return;
    let t2 = this.rules.inline.escape.exec(e2);
    if (t2) return { type: "escape", raw: t2[0], text: t2[1] };
  }
  tag(e2) {
    if (e2.charCodeAt(0) !== 60) return;
    let t2 = this.rules.inline.tag.exec(e2);
    if (t2) return !this.lexer.state.inLink && this.rules.other.startATag.test(t2[0]) ? this.lexer.state.inLink = true : this.lexer.state.inLink && this.rules.other.endATag.test(t2[0]) && (this.lexer.state.inLink = false), !this.lexer.state.inRawBlock && this.rules.other.startPreScriptTag.test(t2[0]) ? this.lexer.state.inRawBlock = true : this.lexer.state.inRawBlock && this.rules.other.endPreScriptTag.test(t2[0]) && (this.lexer.state.inRawBlock = false), { type: "html", raw: t2[0], inLink: this.lexer.state.inLink, inRawBlock: this.lexer.state.inRawBlock, block: false, text: t2[0] };
  }
  link(e2) {
    if (this.lexer.state.linkParenPossible === false) return;
    let t2 = e2.charCodeAt(0);
    if (t2 !== 91 && t2 !== 33) return;
    let n2 = this.rules.inline.link.exec(e2);
    if (n2) {
      let r2 = n2[0].charAt(0) === "!" ? 2 : 1;
      if (!this.options.pedantic && Ze(e2, n2[1], r2, this.rules)) return;
      let s2 = n2[2].trim();
      if (!this.options.pedantic && this.rules.other.startAngleBracket.test(s2)) {
        if (!this.rules.other.endAngleBracket.test(s2)) return;
        let c2 = C2(s2.slice(0, -1), "\\");
        if ((s2.length - c2.length) % 2 === 0) return;
      } else {
        let c2 = Te(n2[2], "()");
        if (c2 === -2) return;
        if (c2 > -1) {
          let d2 = (n2[0].indexOf("!") === 0 ? 5 : 4) + n2[1].length + c2;
          n2[2] = n2[2].substring(0, c2), n2[0] = n2[0].substring(0, d2).trim(), n2[3] = "";
        }
      }
      let o3 = C2(n2[0].slice(0, -1), "\\");
      if ((n2[0].length - o3.length) % 2 === 0) return;
      let i2 = n2[2], a3 = "";
      if (this.options.pedantic) {
        let c2 = this.rules.other.pedanticHrefTitle.exec(i2);
        c2 && (i2 = c2[1], a3 = c2[3]);
      } else a3 = n2[3] ? n2[3].slice(1, -1) : "";
      return i2 = i2.trim(), this.rules.other.startAngleBracket.test(i2) && (this.options.pedantic && !this.rules.other.endAngleBracket.test(s2) ? i2 = i2.slice(1) : i2 = i2.slice(1, -1)), He(n2, { href: i2 && i2.replace(this.rules.inline.anyPunctuation, "$1"), title: a3 && a3.replace(this.rules.inline.anyPunctuation, "$1") }, n2[0], this.lexer, this.rules);
    }
  }
  reflink(e2, t2) {
    let n2 = e2.charCodeAt(0);
    if (n2 !== 91 && n2 !== 33) return;
    let r2;
    if ((r2 = this.rules.inline.reflink.exec(e2)) || (r2 = this.rules.inline.nolink.exec(e2))) {
      let s2 = r2[0].charAt(0) === "!" ? 2 : 1;
      if (!this.options.pedantic && Ze(e2, r2[1], s2, this.rules)) return;
      let o3 = t2[W(r2[2] || r2[1])];
      if (!o3) {
        let i2 = r2[0].charAt(0);
        return { type: "text", raw: i2, text: i2 };
      }
      return He(r2, o3, r2[0], this.lexer, this.rules);
    }
  }
  emStrong(e2, t2, n2 = "") {
    let r2 = this.rules.inline.emStrongLDelim.exec(e2);
    if (!r2 || !r2[1] && !r2[2] && !r2[3] && !r2[4]) return;
    let s2 = r2[0][0], o3 = n2 === s2, i2 = t2.length - e2.length, a3 = i2;
    for (; !this.options.pedantic && a3 > 0 && t2[a3 - 1] === s2; ) a3--;
    let c2 = [...t2.slice(Math.max(0, a3 - 2), a3)].at(-1) ?? "", u2 = c2 === "*" || c2 === "_" || !!this.rules.inline.punctuation.exec(c2);
    a3 < i2 && (n2 = c2);
    let d2 = a3 < i2 ? u2 : n2 === "*" || n2 === "_" || !!this.rules.inline.punctuation.exec(n2);
    if (r2[4] && n2.match(this.rules.other.unicodeAlphaNumeric)) return;
    let h2 = r2[1] || r2[3] || "";
    if (!h2 || !n2 || d2) {
      let p2 = [...r2[0]].length - 1, k, m2, b = p2, f3 = 0, R = i2 - a3 + p2, E2 = !this.options.pedantic && !!c2.trim() && (!!h2 || s2 === "*" && !u2);
      if (s2 !== "*" && s2 !== "_") return;
      let T2 = s2 === "*" ? this.rules.inline.emStrongRDelimAst : this.rules.inline.emStrongRDelimUnd, U = oe(this, t2, s2), H2 = t2.length - e2.length + p2;
      if (U < H2) return;
      t2 = t2.slice(-1 * e2.length + p2);
      let K2 = U - H2;
      for (T2.lastIndex = 0; (r2 = T2.exec(t2)) !== null && !(r2.index > K2); ) {
        if (k = r2[1] || r2[2] || r2[3] || r2[4] || r2[5] || r2[6], !k) continue;
        if (m2 = [...k].length, r2[3] || r2[4]) {
          b += m2;
          continue;
        } else if ((r2[5] || r2[6] || E2) && R % 3 && !((R + m2) % 3)) {
          if (o3 && (r2[5] || r2[6])) break;
          f3 += m2;
          continue;
        }
        if (b -= m2, b > 0) continue;
        m2 = Math.min(m2, m2 + b + f3);
        let re = [...r2[0]][0].length, B2 = e2.slice(0, p2 + r2.index + re + m2);
        if (Math.min(p2, m2) % 2) {
          let se = B2.slice(1, -1);
          return { type: "em", raw: B2, text: se, tokens: this.lexer.inlineTokens(se) };
        }
        let X = B2.slice(2, -2);
        return { type: "strong", raw: B2, text: X, tokens: this.lexer.inlineTokens(X) };
      }
    }
  }
  codespan(e2) {
    if (e2.charCodeAt(0) !== 96) return;
    let t2 = this.rules.inline.code.exec(e2);
    if (t2) {
      let n2 = t2[2].replace(this.rules.other.newLineCharGlobal, " "), r2 = this.rules.other.nonSpaceChar.test(n2), s2 = this.rules.other.startingSpaceChar.test(n2) && this.rules.other.endingSpaceChar.test(n2);
      return r2 && s2 && (n2 = n2.substring(1, n2.length - 1)), { type: "codespan", raw: t2[0], text: n2 };
    }
  }
  br(e2) {
    let t2 = e2.charCodeAt(0);
    if (t2 !== 32 && t2 !== 92 && t2 !== 10) return;
    let n2 = this.rules.inline.br.exec(e2);
    if (n2) return { type: "br", raw: n2[0] };
  }
  del(e2, t2, n2 = "") {
    if (e2.charCodeAt(0) !== 126) return;
    let r2 = this.rules.inline.delLDelim.exec(e2);
    if (!r2) return;
    if (!(r2[1] || "") || !n2 || this.rules.inline.punctuation.exec(n2)) {
      let o3 = [...r2[0]].length - 1, i2, a3, c2 = o3, u2 = this.rules.inline.delRDelim, d2 = ae(this, t2), h2 = t2.length - e2.length + o3;
      if (d2 < h2) return;
      t2 = t2.slice(-1 * e2.length + o3);
      let p2 = d2 - h2;
      for (u2.lastIndex = 0; (r2 = u2.exec(t2)) !== null && !(r2.index > p2); ) {
        if (i2 = r2[1] || r2[2] || r2[3] || r2[4] || r2[5] || r2[6], !i2 || (a3 = [...i2].length, a3 !== o3)) continue;
        if (r2[3] || r2[4]) {
          c2 += a3;
          continue;
        }
        if (c2 -= a3, c2 > 0) continue;
        a3 = Math.min(a3, a3 + c2);
        let k = [...r2[0]][0].length, m2 = e2.slice(0, o3 + r2.index + k + a3), b = m2.slice(o3, -o3);
        return { type: "del", raw: m2, text: b, tokens: this.lexer.inlineTokens(b) };
      }
    }
  }
  autolink(e2) {
    if (e2.charCodeAt(0) !== 60) return;
    let t2 = this.rules.inline.autolink.exec(e2);
    if (t2) {
      let n2, r2;
      return t2[2] === "@" ? (n2 = t2[1], r2 = "mailto:" + n2) : (n2 = t2[1], r2 = n2), { type: "link", raw: t2[0], text: n2, href: r2, autolink: true, tokens: [{ type: "text", raw: n2, text: n2 }] };
    }
  }
  url(e2) {
    let t2;
    if (t2 = this.rules.inline.url.exec(e2)) {
      let n2, r2;
      if (t2[2] === "@") n2 = t2[0], r2 = "mailto:" + n2;
      else {
        let s2;
        do
          s2 = t2[0], t2[0] = this.rules.inline._backpedal.exec(t2[0])?.[0] ?? "";
        while (s2 !== t2[0]);
        n2 = t2[0], t2[1] === "www." ? r2 = "http://" + t2[0] : r2 = t2[0];
      }
      return { type: "link", raw: t2[0], text: n2, href: r2, autolink: true, tokens: [{ type: "text", raw: n2, text: n2 }] };
    }
  }
  inlineText(e2) {
    let t2 = this.rules.inline.text.exec(e2);
    if (t2) {
      let n2 = this.lexer.state.inRawBlock;
      return { type: "text", raw: t2[0], text: n2 ? t2[0] : De(t2[0]), escaped: n2 };
    }
  }
};
var w2 = class l2 {
  tokens;
  options;
  state;
  inlineQueue;
  tokenizer;
  constructor(e2) {
    this.tokens = [], this.tokens.links = /* @__PURE__ */ Object.create(null), this.options = e2 || S2, this.options.tokenizer = this.options.tokenizer || new _2(), this.tokenizer = this.options.tokenizer, this.tokenizer.options = this.options, this.tokenizer.lexer = this, this.inlineQueue = [], this.state = { inLink: false, inRawBlock: false, linkEmitted: false, linkParenPossible: true, top: true };
    let t2 = { other: O, block: ee.normal, inline: F2.normal };
    this.options.pedantic ? (t2.block = ee.pedantic, t2.inline = F2.pedantic) : this.options.gfm && (t2.block = ee.gfm, this.options.breaks ? t2.inline = F2.breaks : t2.inline = F2.gfm), this.tokenizer.rules = t2;
  }
  static get rules() {
    return { block: ee, inline: F2 };
  }
  static lex(e2, t2) {
    return new l2(t2).lex(e2);
  }
  static lexInline(e2, t2) {
    return new l2(t2).inlineTokens(e2);
  }
  lex(e2) {
    e2 = e2.replace(O.carriageReturn, `
`), this.blockTokens(e2, this.tokens);
    for (let t2 = 0; t2 < this.inlineQueue.length; t2++) {
      let n2 = this.inlineQueue[t2];
      this.state.inRawBlock = false, this.inlineTokens(n2.src, n2.tokens);
    }
    return this.inlineQueue = [], this.tokens;
  }
  blockTokens(e2, t2 = [], n2 = false) {
    this.tokenizer.lexer = this;
    let r2 = this.state.lastToken;
    this.options.pedantic && (e2 = e2.replace(O.tabCharGlobal, "    ").replace(O.spaceLine, ""));
    let s2 = 1 / 0, o3, i2 = this.options.gfm && !this.options.pedantic && this.tokenizer.paragraph === _2.prototype.paragraph;
    for (; e2; ) {
      if (e2.length < s2) s2 = e2.length;
      else {
        this.infiniteLoopError(e2.charCodeAt(0));
        break;
      }
      this.state.lastToken = t2.at(-1);
      let a3;
      if (this.options.extensions?.block?.some((u2) => (a3 = u2.call({ lexer: this }, e2, t2)) ? (e2 = e2.substring(a3.raw.length), t2.push(a3), true) : false)) continue;
      if (a3 = this.tokenizer.space(e2)) {
        e2 = e2.substring(a3.raw.length);
        let u2 = t2.at(-1);
        a3.raw.length === 1 && u2 !== void 0 ? u2.raw += `
` : t2.push(a3);
        continue;
      }
      if (a3 = this.tokenizer.code(e2)) {
        e2 = e2.substring(a3.raw.length);
        let u2 = t2.at(-1);
        u2?.type === "paragraph" || u2?.type === "text" ? (u2.raw += (u2.raw.endsWith(`
`) ? "" : `
`) + a3.raw, u2.text += `
` + a3.text, this.inlineQueue.at(-1).src = u2.text) : t2.push(a3);
        continue;
      }
      if (a3 = this.tokenizer.fences(e2)) {
        e2 = e2.substring(a3.raw.length), t2.push(a3);
        continue;
      }
      if (a3 = this.tokenizer.heading(e2)) {
        e2 = e2.substring(a3.raw.length), t2.push(a3);
        continue;
      }
      if (a3 = this.tokenizer.hr(e2)) {
        e2 = e2.substring(a3.raw.length), t2.push(a3);
        continue;
      }
      if (a3 = this.tokenizer.blockquote(e2)) {
        e2 = e2.substring(a3.raw.length), t2.push(a3);
        continue;
      }
      if (a3 = this.tokenizer.list(e2)) {
        e2 = e2.substring(a3.raw.length), t2.push(a3);
        continue;
      }
      if (a3 = this.tokenizer.html(e2)) {
        e2 = e2.substring(a3.raw.length), t2.push(a3);
        continue;
      }
      if (a3 = this.tokenizer.def(e2)) {
        e2 = e2.substring(a3.raw.length);
        let u2 = t2.at(-1);
        u2?.type === "paragraph" || u2?.type === "text" ? (u2.raw += (u2.raw.endsWith(`
`) ? "" : `
`) + a3.raw, u2.text += `
` + a3.raw, this.inlineQueue.at(-1).src = u2.text) : (this.tokens.links[a3.tag] || (this.tokens.links[a3.tag] = { href: a3.href, title: a3.title }), t2.push(a3));
        continue;
      }
      if (a3 = this.tokenizer.table(e2)) {
        e2 = e2.substring(a3.raw.length), t2.push(a3);
        continue;
      }
      if (a3 = this.tokenizer.lheading(e2)) {
        e2 = e2.substring(a3.raw.length), t2.push(a3);
        continue;
      }
      let c2 = e2;
      if (this.options.extensions?.startBlock) {
        let u2 = 1 / 0, d2 = e2.slice(1), h2;
        this.options.extensions.startBlock.forEach((p2) => {
          h2 = p2.call({ lexer: this }, d2), typeof h2 == "number" && h2 >= 0 && (u2 = Math.min(u2, h2));
        }), u2 < 1 / 0 && u2 >= 0 && (c2 = e2.substring(0, u2 + 1));
      }
      if (this.state.top && (a3 = this.tokenizer.paragraph(c2))) {
        let u2 = t2.at(-1);
        (n2 || u2 === o3 && i2) && u2?.type === "paragraph" ? (u2.raw += (u2.raw.endsWith(`
`) ? "" : `
`) + a3.raw, u2.text += `
` + a3.text, this.inlineQueue.pop(), this.inlineQueue.at(-1).src = u2.text, o3 = u2) : (t2.push(a3), o3 = a3), n2 = c2.length !== e2.length, e2 = e2.substring(a3.raw.length);
        continue;
      }
      if (a3 = this.tokenizer.text(e2)) {
        e2 = e2.substring(a3.raw.length);
        let u2 = t2.at(-1);
        u2?.type === "text" ? (u2.raw += (u2.raw.endsWith(`
`) ? "" : `
`) + a3.raw, u2.text += `
` + a3.text, this.inlineQueue.pop(), this.inlineQueue.at(-1).src = u2.text) : t2.push(a3);
        continue;
      }
      if (e2) {
        this.infiniteLoopError(e2.charCodeAt(0));
        break;
      }
    }
    return this.state.top = true, this.state.lastToken = r2, t2;
  }
  inline(e2, t2 = []) {
    return this.inlineQueue.push({ src: e2, tokens: t2 }), t2;
  }
  linkInText(e2) {
    if (!e2.includes("[")) return false;
    let t2 = this.tokenizer.rules.inline.link;
    for (let n2 of e2.matchAll(this.tokenizer.rules.inline.blockSkip)) if (t2.test(n2[0]) && e2.charAt(n2.index - 1) !== "!") return true;
    for (let n2 of e2.matchAll(this.tokenizer.rules.inline.reflinkSearch)) {
      let r2 = n2[0], s2 = r2.lastIndexOf("[");
      if (!(r2.charAt(0) === "!" || !Object.hasOwn(this.tokens.links, W(r2.slice(s2 + 1, -1)))) && !(s2 > 1 && this.linkInText(r2.slice(1, s2 - 1)))) return true;
    }
    return false;
  }
  inlineTokens(e2, t2 = []) {
    this.tokenizer.lexer = this;
    let n2 = this.state.linkParenPossible;
    this.state.linkParenPossible = e2.includes(")");
    try {
      return this.#t(e2, t2);
    } finally {
      this.state.linkParenPossible = n2;
    }
  }
  #t(e2, t2) {
    let n2 = e2.includes("*") || e2.includes("_") || e2.includes("~"), r2 = n2 || this.options.hooks?.emStrongMask || this.tokenizer.emStrong !== _2.prototype.emStrong || this.tokenizer.del !== _2.prototype.del ? this.#r(e2) : e2;
    if (!n2) return this.#e(e2, r2, t2);
    qe(this.tokenizer, r2);
    try {
      return this.#e(e2, r2, t2);
    } finally {
      ve(this.tokenizer);
    }
  }
  #e(e2, t2, n2) {
    let r2 = false, s2 = "", o3 = 1 / 0;
    for (; e2; ) {
      if (e2.length < o3) o3 = e2.length;
      else {
        this.infiniteLoopError(e2.charCodeAt(0));
        break;
      }
      r2 || (s2 = ""), r2 = false;
      let i2;
      if (this.options.extensions?.inline?.some((u2) => (i2 = u2.call({ lexer: this }, e2, n2)) ? (e2 = e2.substring(i2.raw.length), n2.push(i2), true) : false)) continue;
      if (i2 = this.tokenizer.escape(e2)) {
        e2 = e2.substring(i2.raw.length), n2.push(i2);
        continue;
      }
      if (i2 = this.tokenizer.tag(e2)) {
        e2 = e2.substring(i2.raw.length), n2.push(i2);
        continue;
      }
      if (i2 = this.tokenizer.link(e2)) {
        e2 = e2.substring(i2.raw.length), n2.push(i2);
        continue;
      }
      if (i2 = this.tokenizer.reflink(e2, this.tokens.links)) {
        e2 = e2.substring(i2.raw.length);
        let u2 = n2.at(-1);
        i2.type === "text" && u2?.type === "text" ? (u2.raw += i2.raw, u2.text += i2.text) : n2.push(i2);
        continue;
      }
      let a3 = e2[0];
      if (a3 === "*" || a3 === "_") {
        let u2 = t2.length - e2.length;
        if (oe(this.tokenizer, t2, a3) <= u2) {
          let h2 = 1;
          for (; h2 < e2.length && e2.charCodeAt(h2) === a3.charCodeAt(0); ) h2++;
          let p2 = e2.substring(0, h2), k = n2.at(-1);
          k?.type === "text" && !k.escaped ? (k.raw += p2, k.text += p2) : n2.push({ type: "text", raw: p2, text: p2, escaped: false }), e2 = e2.substring(h2), s2 = a3, r2 = true;
          continue;
        }
      } else if (a3 === "~") {
        let u2 = t2.length - e2.length;
        if (ae(this.tokenizer, t2) <= u2) {
          let h2 = 1;
          for (; h2 < e2.length && e2.charCodeAt(h2) === 126; ) h2++;
          let p2 = e2.substring(0, h2), k = n2.at(-1);
          k?.type === "text" && !k.escaped ? (k.raw += p2, k.text += p2) : n2.push({ type: "text", raw: p2, text: p2, escaped: false }), e2 = e2.substring(h2), s2 = a3, r2 = true;
          continue;
        }
      }
      if (i2 = this.tokenizer.emStrong(e2, t2, s2)) {
        e2 = e2.substring(i2.raw.length), n2.push(i2);
        continue;
      }
      if (i2 = this.tokenizer.codespan(e2)) {
        e2 = e2.substring(i2.raw.length), n2.push(i2);
        continue;
      }
      if (i2 = this.tokenizer.br(e2)) {
        e2 = e2.substring(i2.raw.length), n2.push(i2);
        continue;
      }
      if (i2 = this.tokenizer.del(e2, t2, s2)) {
        e2 = e2.substring(i2.raw.length), n2.push(i2);
        continue;
      }
      if (i2 = this.tokenizer.autolink(e2)) {
        e2 = e2.substring(i2.raw.length), n2.push(i2);
        continue;
      }
      if (!this.state.inLink && (i2 = this.tokenizer.url(e2))) {
        e2 = e2.substring(i2.raw.length), n2.push(i2);
        continue;
      }
      let c2 = e2;
      if (this.options.extensions?.startInline) {
        let u2 = 1 / 0, d2 = e2.slice(1), h2;
        this.options.extensions.startInline.forEach((p2) => {
          h2 = p2.call({ lexer: this }, d2), typeof h2 == "number" && h2 >= 0 && (u2 = Math.min(u2, h2));
        }), u2 < 1 / 0 && u2 >= 0 && (c2 = e2.substring(0, u2 + 1));
      }
      if (i2 = this.tokenizer.inlineText(c2)) {
        e2 = e2.substring(i2.raw.length), i2.raw.slice(-1) !== "_" && (s2 = i2.raw.slice(-1)), r2 = true;
        let u2 = n2.at(-1);
        u2?.type === "text" ? (u2.raw += i2.raw, u2.text += i2.text) : n2.push(i2);
        continue;
      }
      if (e2) {
        this.infiniteLoopError(e2.charCodeAt(0));
        break;
      }
    }
    return n2;
  }
  #n(e2) {
    let { blockSkip: t2, tag: n2, autolink: r2 } = this.tokenizer.rules.inline, s2 = "", o3 = 0, i2;
    for (t2.lastIndex = 0; i2 = t2.exec(e2); ) {
      let a3 = i2.index + (i2[2] ? i2[2].length : 0), c2 = i2.index + i2[0].length;
      if (e2.charAt(a3) === "<") {
        let u2 = e2.slice(a3), d2 = n2.exec(u2) || r2.exec(u2);
        if (!d2) {
          t2.lastIndex = a3 + 1;
          continue;
        }
        c2 = a3 + d2[0].length, t2.lastIndex = c2;
      }
      s2 += e2.slice(o3, a3) + "[" + "a".repeat(c2 - a3 - 2) + "]", o3 = c2;
    }
    return s2 + e2.slice(o3);
  }
  #r(e2) {
    let t2 = e2;
    if (this.tokens.links && e2.includes("[")) {
      let n2 = this.tokenizer.rules.inline.reflinkSearch, r2 = (s2) => {
        let o3 = s2.lastIndexOf("[");
        if (!Object.hasOwn(this.tokens.links, W(s2.slice(o3 + 1, -1)))) return s2;
        if (o3 > 1 && s2.charAt(0) !== "!") {
          let i2 = s2.slice(1, o3 - 1);
          if (this.linkInText(i2)) return "[" + i2.replace(n2, r2) + "][" + "a".repeat(s2.length - o3 - 2) + "]";
        }
        return "[" + "a".repeat(s2.length - 2) + "]";
      };
      t2 = t2.replace(n2, r2);
    }
    return t2 = t2.replace(this.tokenizer.rules.inline.anyPunctuationOutsideCode, (n2, r2, s2) => s2 ? "+".repeat(n2.length) : r2 ? r2 + n2.slice(r2.length, -r2.length).replace(/`/g, "+") + r2 : n2), t2 = this.#n(t2), t2 = this.options.hooks?.emStrongMask?.call({ lexer: this }, t2) ?? t2, t2;
  }
  infiniteLoopError(e2) {
    let t2 = "Infinite loop on byte: " + e2;
    if (this.options.silent) console.error(t2);
    else throw new Error(t2);
  }
};
var I2 = class {
  options;
  parser;
  constructor(e2) {
    this.options = e2 || S2;
  }
  space(e2) {
    return "";
  }
  code({ text: e2, lang: t2, escaped: n2 }) {
    let r2 = (t2 || "").match(O.notSpaceStart)?.[0], s2 = e2 ? e2.replace(O.endingNewline, "") + `
` : "";
    return r2 ? '<pre><code class="language-' + y2(r2) + '">' + (n2 ? s2 : y2(s2, true)) + `</code></pre>
` : "<pre><code>" + (n2 ? s2 : y2(s2, true)) + `</code></pre>
`;
  }
  blockquote({ tokens: e2 }) {
    return `<blockquote>
${this.parser.parse(e2)}</blockquote>
`;
  }
  html({ text: e2 }) {
    return e2;
  }
  def(e2) {
    return "";
  }
  heading({ tokens: e2, depth: t2 }) {
    return `<h${t2}>${this.parser.parseInline(e2)}</h${t2}>
`;
  }
  hr(e2) {
    return `<hr>
`;
  }
  list(e2) {
    let t2 = e2.ordered, n2 = e2.start, r2 = "";
    for (let i2 = 0; i2 < e2.items.length; i2++) {
      let a3 = e2.items[i2];
      r2 += this.listitem(a3);
    }
    let s2 = t2 ? "ol" : "ul", o3 = t2 && n2 !== 1 ? ' start="' + n2 + '"' : "";
    return "<" + s2 + o3 + `>
` + r2 + "</" + s2 + `>
`;
  }
  listitem(e2) {
    return `<li>${this.parser.parse(e2.tokens)}</li>
`;
  }
  checkbox({ checked: e2 }) {
    return "<input " + (e2 ? 'checked="" ' : "") + 'disabled="" type="checkbox"> ';
  }
  paragraph({ tokens: e2 }) {
    return `<p>${this.parser.parseInline(e2)}</p>
`;
  }
  table(e2) {
    let t2 = "", n2 = "";
    for (let s2 = 0; s2 < e2.header.length; s2++) n2 += this.tablecell(e2.header[s2]);
    t2 += this.tablerow({ text: n2 });
    let r2 = "";
    for (let s2 = 0; s2 < e2.rows.length; s2++) {
      let o3 = e2.rows[s2];
      n2 = "";
      for (let i2 = 0; i2 < o3.length; i2++) n2 += this.tablecell(o3[i2]);
      r2 += this.tablerow({ text: n2 });
    }
    return r2 && (r2 = `<tbody>${r2}</tbody>`), `<table>
<thead>
` + t2 + `</thead>
` + r2 + `</table>
`;
  }
  tablerow({ text: e2 }) {
    return `<tr>
${e2}</tr>
`;
  }
  tablecell(e2) {
    let t2 = this.parser.parseInline(e2.tokens), n2 = e2.header ? "th" : "td";
    return (e2.align ? `<${n2} align="${e2.align}">` : `<${n2}>`) + t2 + `</${n2}>
`;
  }
  strong({ tokens: e2 }) {
    return `<strong>${this.parser.parseInline(e2)}</strong>`;
  }
  em({ tokens: e2 }) {
    return `<em>${this.parser.parseInline(e2)}</em>`;
  }
  codespan({ text: e2 }) {
    return `<code>${y2(e2, true)}</code>`;
  }
  br(e2) {
    return "<br>";
  }
  del({ tokens: e2 }) {
    return `<del>${this.parser.parseInline(e2)}</del>`;
  }
  link({ href: e2, title: t2, text: n2, tokens: r2, autolink: s2 }) {
    let o3 = s2 ? y2(n2, true) : this.parser.parseInline(r2), i2 = xe(e2);
    if (i2 === null) return o3;
    e2 = y2(i2, s2);
    let a3 = '<a href="' + e2 + '"';
    return t2 && (a3 += ' title="' + y2(t2) + '"'), a3 += ">" + o3 + "</a>", a3;
  }
  image({ href: e2, title: t2, text: n2, tokens: r2 }) {
    r2 && (n2 = this.parser.parseInline(r2, this.parser.textRenderer));
    let s2 = xe(e2);
    if (s2 === null) return y2(n2);
    e2 = s2;
    let o3 = `<img src="${y2(e2)}" alt="${y2(n2)}"`;
    return t2 && (o3 += ` title="${y2(t2)}"`), o3 += ">", o3;
  }
  text(e2) {
    return "tokens" in e2 && e2.tokens ? this.parser.parseInline(e2.tokens) : "escaped" in e2 && e2.escaped ? e2.text : y2(e2.text);
  }
};
var z2 = class {
  parser;
  strong({ text: e2, tokens: t2 }) {
    return t2 ? this.parser.parseInline(t2, this) : e2;
  }
  em({ text: e2, tokens: t2 }) {
    return t2 ? this.parser.parseInline(t2, this) : e2;
  }
  codespan({ text: e2 }) {
    return e2;
  }
  del({ text: e2, tokens: t2 }) {
    return t2 ? this.parser.parseInline(t2, this) : e2;
  }
  html({ text: e2 }) {
    return e2;
  }
  text({ text: e2 }) {
    return e2;
  }
  link({ text: e2, tokens: t2 }) {
    return t2 ? this.parser.parseInline(t2, this) : e2;
  }
  image({ text: e2, tokens: t2 }) {
    return t2 ? this.parser.parseInline(t2, this) : e2;
  }
  br() {
    return `
`;
  }
  checkbox({ raw: e2 }) {
    return e2;
  }
};
var P2 = class l3 {
  options;
  renderer;
  textRenderer;
  constructor(e2) {
    this.options = e2 || S2, this.options.renderer = this.options.renderer || new I2(), this.renderer = this.options.renderer, this.renderer.options = this.options, this.renderer.parser = this, this.textRenderer = new z2(), this.textRenderer.parser = this;
  }
  static parse(e2, t2) {
    return new l3(t2).parse(e2);
  }
  static parseInline(e2, t2) {
    return new l3(t2).parseInline(e2);
  }
  parse(e2) {
    this.renderer.parser = this;
    let t2 = "";
    for (let n2 = 0; n2 < e2.length; n2++) {
      let r2 = e2[n2];
      if (this.options.extensions?.renderers?.[r2.type]) {
        let o3 = r2, i2 = this.options.extensions.renderers[o3.type].call({ parser: this }, o3);
        if (i2 !== false || !["space", "hr", "heading", "code", "table", "blockquote", "list", "checkbox", "html", "def", "paragraph", "text"].includes(o3.type)) {
          t2 += i2 === false ? "" : i2 ?? "";
          continue;
        }
      }
      let s2 = r2;
      switch (s2.type) {
        case "space": {
          t2 += this.renderer.space(s2);
          break;
        }
        case "hr": {
          t2 += this.renderer.hr(s2);
          break;
        }
        case "heading": {
          t2 += this.renderer.heading(s2);
          break;
        }
        case "code": {
          t2 += this.renderer.code(s2);
          break;
        }
        case "table": {
          t2 += this.renderer.table(s2);
          break;
        }
        case "blockquote": {
          t2 += this.renderer.blockquote(s2);
          break;
        }
        case "list": {
          t2 += this.renderer.list(s2);
          break;
        }
        case "checkbox": {
          t2 += this.renderer.checkbox(s2);
          break;
        }
        case "html": {
          t2 += this.renderer.html(s2);
          break;
        }
        case "def": {
          t2 += this.renderer.def(s2);
          break;
        }
        case "paragraph": {
          t2 += this.renderer.paragraph(s2);
          break;
        }
        case "text": {
          t2 += this.renderer.text(s2);
          break;
        }
        default: {
          let o3 = 'Token with "' + s2.type + '" type was not found.';
          if (this.options.silent) return console.error(o3), "";
          throw new Error(o3);
        }
      }
    }
    return t2;
  }
  parseInline(e2, t2 = this.renderer) {
    this.renderer.parser = this;
    let n2 = "";
    for (let r2 = 0; r2 < e2.length; r2++) {
      let s2 = e2[r2];
      if (this.options.extensions?.renderers?.[s2.type]) {
        let i2 = this.options.extensions.renderers[s2.type].call({ parser: this }, s2);
        if (i2 !== false || !["escape", "html", "link", "image", "checkbox", "strong", "em", "codespan", "br", "del", "text"].includes(s2.type)) {
          n2 += i2 === false ? "" : i2 ?? "";
          continue;
        }
      }
      let o3 = s2;
      switch (o3.type) {
        case "escape": {
          n2 += t2.text(o3);
          break;
        }
        case "html": {
          n2 += t2.html(o3);
          break;
        }
        case "link": {
          n2 += t2.link(o3);
          break;
        }
        case "image": {
          n2 += t2.image(o3);
          break;
        }
        case "checkbox": {
          n2 += t2.checkbox(o3);
          break;
        }
        case "strong": {
          n2 += t2.strong(o3);
          break;
        }
        case "em": {
          n2 += t2.em(o3);
          break;
        }
        case "codespan": {
          n2 += t2.codespan(o3);
          break;
        }
        case "br": {
          n2 += t2.br(o3);
          break;
        }
        case "del": {
          n2 += t2.del(o3);
          break;
        }
        case "text": {
          n2 += t2.text(o3);
          break;
        }
        default: {
          let i2 = 'Token with "' + o3.type + '" type was not found.';
          if (this.options.silent) return console.error(i2), "";
          throw new Error(i2);
        }
      }
    }
    return n2;
  }
};
var A2 = class {
  options;
  block;
  constructor(e2) {
    this.options = e2 || S2;
  }
  static passThroughHooks = /* @__PURE__ */ new Set(["preprocess", "postprocess", "processAllTokens", "emStrongMask"]);
  static passThroughHooksRespectAsync = /* @__PURE__ */ new Set(["preprocess", "postprocess", "processAllTokens"]);
  preprocess(e2) {
    return e2;
  }
  postprocess(e2) {
    return e2;
  }
  processAllTokens(e2) {
    return e2;
  }
  emStrongMask(e2) {
    return e2;
  }
  provideLexer(e2 = this.block) {
    return e2 ? w2.lex : w2.lexInline;
  }
  provideParser(e2 = this.block) {
    return e2 ? P2.parse : P2.parseInline;
  }
};
function M2(l4, e2) {
  if (Array.isArray(e2)) for (let t2 = 0; t2 < e2.length; t2++) l4.push(e2[t2]);
  else l4.push(e2);
}
var ne = class {
  defaults = G2();
  options = this.setOptions;
  parse = this.parseMarkdown(true);
  parseInline = this.parseMarkdown(false);
  Parser = P2;
  Renderer = I2;
  TextRenderer = z2;
  Lexer = w2;
  Tokenizer = _2;
  Hooks = A2;
  constructor(...e2) {
    this.use(...e2);
  }
  walkTokens(e2, t2) {
    let n2 = [];
    for (let r2 of e2) switch (M2(n2, t2.call(this, r2)), r2.type) {
      case "table": {
        let s2 = r2;
        for (let o3 of s2.header) M2(n2, this.walkTokens(o3.tokens, t2));
        for (let o3 of s2.rows) for (let i2 of o3) M2(n2, this.walkTokens(i2.tokens, t2));
        break;
      }
      case "list": {
        let s2 = r2;
        M2(n2, this.walkTokens(s2.items, t2));
        break;
      }
      default: {
        let s2 = r2;
        this.defaults.extensions?.childTokens?.[s2.type] ? this.defaults.extensions.childTokens[s2.type].forEach((o3) => {
          let i2 = s2[o3].flat(1 / 0);
          M2(n2, this.walkTokens(i2, t2));
        }) : s2.tokens && M2(n2, this.walkTokens(s2.tokens, t2));
      }
    }
    return n2;
  }
  use(...e2) {
    let t2 = this.defaults.extensions || { renderers: /* @__PURE__ */ Object.create(null), childTokens: /* @__PURE__ */ Object.create(null) };
    return e2.forEach((n2) => {
      let r2 = { ...n2 };
      if (r2.async = this.defaults.async || r2.async || false, n2.extensions && (n2.extensions.forEach((s2) => {
        if (!s2.name) throw new Error("extension name required");
        if ("renderer" in s2) {
          let o3 = t2.renderers[s2.name];
          o3 ? t2.renderers[s2.name] = function(...i2) {
            let a3 = s2.renderer.apply(this, i2);
            return a3 === false && (a3 = o3.apply(this, i2)), a3;
          } : t2.renderers[s2.name] = s2.renderer;
        }
        if ("tokenizer" in s2) {
          if (!s2.level || s2.level !== "block" && s2.level !== "inline") throw new Error("extension level must be 'block' or 'inline'");
          let o3 = t2[s2.level];
          o3 ? o3.unshift(s2.tokenizer) : t2[s2.level] = [s2.tokenizer], s2.start && (s2.level === "block" ? t2.startBlock ? t2.startBlock.push(s2.start) : t2.startBlock = [s2.start] : s2.level === "inline" && (t2.startInline ? t2.startInline.push(s2.start) : t2.startInline = [s2.start]));
        }
        "childTokens" in s2 && s2.childTokens && (t2.childTokens[s2.name] = s2.childTokens);
      }), r2.extensions = t2), n2.renderer) {
        let s2 = this.defaults.renderer || new I2(this.defaults);
        for (let o3 in n2.renderer) {
          if (!(o3 in s2)) throw new Error(`renderer '${o3}' does not exist`);
          if (["options", "parser"].includes(o3)) continue;
          let i2 = o3, a3 = n2.renderer[i2], c2 = s2[i2];
          s2[i2] = (...u2) => {
            let d2 = a3.apply(s2, u2);
            return d2 === false && (d2 = c2.apply(s2, u2)), d2 === false ? "" : d2 ?? "";
          };
        }
        r2.renderer = s2;
      }
      if (n2.tokenizer) {
        let s2 = this.defaults.tokenizer || new _2(this.defaults);
        for (let o3 in n2.tokenizer) {
          if (!(o3 in s2)) throw new Error(`tokenizer '${o3}' does not exist`);
          if (["options", "rules", "lexer"].includes(o3)) continue;
          let i2 = o3, a3 = n2.tokenizer[i2], c2 = s2[i2];
          s2[i2] = (...u2) => {
            let d2 = a3.apply(s2, u2);
            return d2 === false && (d2 = c2.apply(s2, u2)), d2;
          };
        }
        r2.tokenizer = s2;
      }
      if (n2.hooks) {
        let s2 = this.defaults.hooks || new A2();
        for (let o3 in n2.hooks) {
          if (!(o3 in s2)) throw new Error(`hook '${o3}' does not exist`);
          if (["options", "block"].includes(o3)) continue;
          let i2 = o3, a3 = n2.hooks[i2], c2 = s2[i2];
          A2.passThroughHooks.has(o3) ? s2[i2] = (u2) => {
            if (s2.options.async && A2.passThroughHooksRespectAsync.has(o3)) return (async () => {
              let h2 = await a3.call(s2, u2);
              return c2.call(s2, h2);
            })();
            let d2 = a3.call(s2, u2);
            return c2.call(s2, d2);
          } : s2[i2] = (...u2) => {
            if (s2.options.async) return (async () => {
              let h2 = await a3.apply(s2, u2);
              return h2 === false && (h2 = await c2.apply(s2, u2)), h2;
            })();
            let d2 = a3.apply(s2, u2);
            return d2 === false && (d2 = c2.apply(s2, u2)), d2;
          };
        }
        r2.hooks = s2;
      }
      if (n2.walkTokens) {
        let s2 = this.defaults.walkTokens, o3 = n2.walkTokens;
        r2.walkTokens = function(i2) {
          let a3 = [];
          return M2(a3, o3.call(this, i2)), s2 && M2(a3, s2.call(this, i2)), a3;
        };
      }
      this.defaults = { ...this.defaults, ...r2 };
    }), this;
  }
  setOptions(e2) {
    return this.defaults = { ...this.defaults, ...e2 }, this;
  }
  lexer(e2, t2) {
    return w2.lex(e2, t2 ?? this.defaults);
  }
  parser(e2, t2) {
    return P2.parse(e2, t2 ?? this.defaults);
  }
  parseMarkdown(e2) {
    return (n2, r2) => {
      let s2 = { ...r2 }, o3 = { ...this.defaults, ...s2 }, i2 = this.onError(!!o3.silent, !!o3.async);
      if (this.defaults.async === true && s2.async === false) return i2(new Error("marked(): The async option was set to true by an extension. Remove async: false from the parse options object to return a Promise."));
      if (typeof n2 > "u" || n2 === null) return i2(new Error("marked(): input parameter is undefined or null"));
      if (typeof n2 != "string") return i2(new Error("marked(): input parameter is of type " + Object.prototype.toString.call(n2) + ", string expected"));
      if (o3.hooks && (o3.hooks.options = o3, o3.hooks.block = e2), o3.async) return (async () => {
        let a3 = o3.hooks ? await o3.hooks.preprocess(n2) : n2, u2 = await (o3.hooks ? await o3.hooks.provideLexer(e2) : e2 ? w2.lex : w2.lexInline)(a3, o3), d2 = o3.hooks ? await o3.hooks.processAllTokens(u2) : u2;
        o3.walkTokens && await Promise.all(this.walkTokens(d2, o3.walkTokens));
        let p2 = await (o3.hooks ? await o3.hooks.provideParser(e2) : e2 ? P2.parse : P2.parseInline)(d2, o3);
        return o3.hooks ? await o3.hooks.postprocess(p2) : p2;
      })().catch(i2);
      try {
        o3.hooks && (n2 = o3.hooks.preprocess(n2));
        let c2 = (o3.hooks ? o3.hooks.provideLexer(e2) : e2 ? w2.lex : w2.lexInline)(n2, o3);
        o3.hooks && (c2 = o3.hooks.processAllTokens(c2)), o3.walkTokens && this.walkTokens(c2, o3.walkTokens);
        let d2 = (o3.hooks ? o3.hooks.provideParser(e2) : e2 ? P2.parse : P2.parseInline)(c2, o3);
        return o3.hooks && (d2 = o3.hooks.postprocess(d2)), d2;
      } catch (a3) {
        return i2(a3);
      }
    };
  }
  onError(e2, t2) {
    return (n2) => {
      if (n2.message += `
Please report this to https://github.com/markedjs/marked.`, e2) {
        let r2 = "<p>An error occurred:</p><pre>" + y2(n2.message + "", true) + "</pre>";
        return t2 ? Promise.resolve(r2) : r2;
      }
      if (t2) return Promise.reject(n2);
      throw n2;
    };
  }
};
var v2 = new ne();
function x2(l4, e2) {
  return v2.parse(l4, e2);
}
x2.options = x2.setOptions = function(l4) {
  return v2.setOptions(l4), x2.defaults = v2.defaults, ue(x2.defaults), x2;
};
x2.getDefaults = G2;
x2.defaults = S2;
function jt(...l4) {
  return v2.use(...l4), x2.defaults = v2.defaults, ue(x2.defaults), x2;
}
x2.use = jt;
x2.walkTokens = function(l4, e2) {
  return v2.walkTokens(l4, e2);
};
x2.parseInline = v2.parseInline;
x2.Parser = P2;
x2.parser = P2.parse;
x2.Renderer = I2;
x2.TextRenderer = z2;
x2.Lexer = w2;
x2.lexer = w2.lex;
x2.Tokenizer = _2;
x2.Hooks = A2;
x2.parse = x2;
var En = x2.options;
var zn = x2.setOptions;
var Mn = x2.walkTokens;
var Bn = x2.parseInline;
var qn = P2.parse;
var vn = w2.lex;

// src/markdown.tsx
var CHARACTERS_MOST = 1e5;
var DEPTH_MOST = 24;
var SAFE_SCHEMES = /* @__PURE__ */ new Set(["http:", "https:", "mailto:"]);
var ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " ", "#39": "'" };
function Markdown({ text }) {
  const tokens = text.length <= CHARACTERS_MOST ? lexed(text) : null;
  if (tokens === null) return /* @__PURE__ */ a2("div", { class: "markdown plain", dir: "auto", children: text });
  return /* @__PURE__ */ a2("div", { class: "markdown", dir: "auto", children: blocks(tokens, 0) });
}
function lexed(text) {
  try {
    return x2.lexer(text);
  } catch {
    return null;
  }
}
function blocks(tokens, depth) {
  if (depth > DEPTH_MOST) return tokens.map((token) => token.raw).join("");
  return tokens.map((token, index) => /* @__PURE__ */ a2(Block, { token, depth }, index));
}
function Block({ token: given, depth }) {
  const token = given;
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "code":
      return /* @__PURE__ */ a2(Code, { text: token.text, language: token.lang ?? "" });
    case "heading":
      return /* @__PURE__ */ a2("p", { class: `heading level-${Math.min(token.depth, 4)}`, role: "heading", "aria-level": token.depth + 2, children: inline(token.tokens, depth + 1) });
    case "hr":
      return /* @__PURE__ */ a2("hr", {});
    case "blockquote":
      return /* @__PURE__ */ a2("blockquote", { children: blocks(token.tokens ?? [], depth + 1) });
    case "list": {
      const items = token.items.map((item, index) => /* @__PURE__ */ a2("li", { class: item.task ? "task" : void 0, children: [
        item.task && /* @__PURE__ */ a2("input", { type: "checkbox", checked: item.checked === true, disabled: true, "aria-label": item.checked ? "done" : "open" }),
        blocks(item.tokens.filter((one) => one.type !== "checkbox"), depth + 1)
      ] }, index));
      return token.ordered ? /* @__PURE__ */ a2("ol", { start: Number(token.start) || 1, children: items }) : /* @__PURE__ */ a2("ul", { children: items });
    }
    case "table":
      return /* @__PURE__ */ a2(Table, { token, depth });
    case "paragraph":
      return /* @__PURE__ */ a2("p", { children: inline(token.tokens ?? [], depth + 1) });
    case "text":
      return /* @__PURE__ */ a2("span", { children: "tokens" in token && token.tokens ? inline(token.tokens, depth + 1) : decoded2(token.text) });
    default:
      return /* @__PURE__ */ a2("p", { class: "plain", children: given.raw });
  }
}
function Table({ token, depth }) {
  const cell = (one) => inline(one.tokens, depth + 1);
  const aligned = (one) => one.align ? `align-${one.align}` : void 0;
  return /* @__PURE__ */ a2("div", { class: "table-frame", tabIndex: 0, role: "region", "aria-label": "Table", children: /* @__PURE__ */ a2("table", { children: [
    /* @__PURE__ */ a2("thead", { children: /* @__PURE__ */ a2("tr", { children: token.header.map((one, index) => /* @__PURE__ */ a2("th", { class: aligned(one), children: cell(one) }, index)) }) }),
    /* @__PURE__ */ a2("tbody", { children: token.rows.map((row, index) => /* @__PURE__ */ a2("tr", { children: row.map((one, place) => /* @__PURE__ */ a2("td", { class: aligned(one), children: cell(one) }, place)) }, index)) })
  ] }) });
}
function Code({ text, language }) {
  const copy = (event) => {
    const button = event.currentTarget;
    void navigator.clipboard?.writeText(text).then(() => {
      button.textContent = "Copied";
      setTimeout(() => button.textContent = "Copy", 1500);
    });
  };
  return /* @__PURE__ */ a2("figure", { class: "code", children: [
    /* @__PURE__ */ a2("figcaption", { children: [
      /* @__PURE__ */ a2("span", { children: language.split(/\s/)[0] }),
      /* @__PURE__ */ a2("button", { type: "button", class: "quiet small", onClick: copy, children: "Copy" })
    ] }),
    /* @__PURE__ */ a2("pre", { tabIndex: 0, children: /* @__PURE__ */ a2("code", { children: text }) })
  ] });
}
function inline(tokens, depth) {
  if (depth > DEPTH_MOST) return tokens.map((token) => token.raw).join("");
  return tokens.map((given, index) => {
    const token = given;
    switch (token.type) {
      case "strong":
        return /* @__PURE__ */ a2("strong", { children: inline(token.tokens, depth + 1) }, index);
      case "em":
        return /* @__PURE__ */ a2("em", { children: inline(token.tokens, depth + 1) }, index);
      case "del":
        return /* @__PURE__ */ a2("s", { children: inline(token.tokens, depth + 1) }, index);
      case "codespan":
        return /* @__PURE__ */ a2("code", { children: decoded2(token.text) }, index);
      case "br":
        return /* @__PURE__ */ a2("br", {}, index);
      case "link":
        return /* @__PURE__ */ a2(Link, { href: token.href, children: inline(token.tokens, depth + 1) }, index);
      case "image":
        return /* @__PURE__ */ a2(Link, { href: token.href, children: token.text || token.href }, index);
      case "escape":
        return token.text;
      case "text":
        return "tokens" in token && token.tokens ? inline(token.tokens, depth + 1) : decoded2(token.text);
      default:
        return given.raw;
    }
  });
}
function Link({ href, children }) {
  if (!isSafe(href)) return /* @__PURE__ */ a2("span", { children });
  return /* @__PURE__ */ a2("a", { href, target: "_blank", rel: "noopener noreferrer", title: href, children });
}
function isSafe(href) {
  return URL.canParse(href) && SAFE_SCHEMES.has(new URL(href).protocol);
}
function decoded2(text) {
  return text.replace(/&(amp|lt|gt|quot|apos|nbsp|#39);/g, (whole, name) => ENTITIES[name] ?? whole);
}

// src/views/answers.ts
var ANSWER_WORDS = {
  allow_once: "allowed",
  allow_session: "allowed for this session",
  allow_always: "always allowed",
  reject_once: "rejected",
  reject_always: "always rejected",
  stop: "stopped",
  superseded: "no longer asked"
};
function answerKind(interaction) {
  if (interaction.status === "superseded") return "superseded";
  const { answer } = interaction;
  if (!answer || !("optionId" in answer)) return null;
  return interaction.options.find((option) => option.optionId === answer.optionId)?.kind ?? "other";
}

// src/views/rows.tsx
var Row = class extends x {
  shouldComponentUpdate(next) {
    return next.message !== this.props.message || next.interaction !== this.props.interaction;
  }
  render({ message, interaction }) {
    switch (message.kind) {
      case "reasoning":
        return /* @__PURE__ */ a2(Reasoning, { message });
      case "tool_call":
        return message.toolCall && /* @__PURE__ */ a2(Tool, { message, call: message.toolCall, interaction });
      case "plan":
      case "notice":
      case "goal_control":
        return /* @__PURE__ */ a2("div", { class: "row aside", children: contents(message) });
      default:
        return message.role === "user" ? /* @__PURE__ */ a2(Prompt, { message }) : /* @__PURE__ */ a2(Answer, { message });
    }
  }
};
function Prompt({ message }) {
  const shown = message.displayPrompt === null ? contents(message) : message.displayPrompt;
  return /* @__PURE__ */ a2("article", { class: "row prompt", "aria-label": "You", title: moment(message.createdAt), children: /* @__PURE__ */ a2("div", { class: "bubble plain", dir: "auto", children: shown }) });
}
function Answer({ message }) {
  return /* @__PURE__ */ a2("article", { class: `row answer ${message.status}`, "aria-label": "Agent", "aria-busy": message.status === "streaming", children: [
    contents(message),
    /* @__PURE__ */ a2(Cut, { message })
  ] });
}
function Reasoning({ message }) {
  const streams = message.status === "streaming";
  return /* @__PURE__ */ a2("details", { class: "row reasoning", open: streams, children: [
    /* @__PURE__ */ a2("summary", { children: [
      /* @__PURE__ */ a2(Icon, { name: "thought" }),
      /* @__PURE__ */ a2("span", { children: streams ? "Thinking" : "Thoughts" }),
      streams && /* @__PURE__ */ a2(Dots, {})
    ] }),
    /* @__PURE__ */ a2("div", { class: "body", children: contents(message) })
  ] });
}
var TOOL_ICONS = {
  read: "file",
  edit: "pencil",
  delete: "cross",
  move: "file",
  search: "search",
  execute: "terminal",
  fetch: "globe",
  think: "thought",
  delegate: "people",
  other: "tool"
};
var TOOL_STATUS = {
  pending: "waiting to run",
  running: "running",
  waiting: "asks for permission",
  completed: "done",
  failed: "failed",
  declined: "declined",
  interrupted: "interrupted"
};
function Tool({ message, call, interaction }) {
  const status = interaction?.status === "pending" ? "waiting" : call.status;
  const runs = status === "running" || status === "pending";
  const exit = call.output.exitCode !== void 0 && call.output.exitCode !== 0 ? ` · exit ${call.output.exitCode}` : "";
  const answer = interaction && answerKind(interaction);
  return /* @__PURE__ */ a2("details", { class: `row tool ${status}`, open: status === "running" || status === "failed", children: [
    /* @__PURE__ */ a2("summary", { children: [
      /* @__PURE__ */ a2(Icon, { name: TOOL_ICONS[call.kind] ?? "tool" }),
      /* @__PURE__ */ a2("span", { class: "name", dir: "auto", children: call.title || call.name }),
      answer && /* @__PURE__ */ a2("span", { class: "answered", children: ANSWER_WORDS[answer] ?? "answered" }),
      /* @__PURE__ */ a2("span", { class: "status", children: [
        runs ? /* @__PURE__ */ a2(Dots, {}) : null,
        /* @__PURE__ */ a2("span", { class: runs ? "unseen" : "", children: [
          TOOL_STATUS[status] ?? status,
          exit
        ] })
      ] })
    ] }),
    /* @__PURE__ */ a2("div", { class: "body", children: [
      /* @__PURE__ */ a2(ToolInput, { input: call.input }),
      call.output.changes?.map((change) => /* @__PURE__ */ a2(Change, { change }, change.path)),
      call.output.text && /* @__PURE__ */ a2(Output, { text: call.output.text }),
      !call.output.text && !call.output.changes?.length && !runs && /* @__PURE__ */ a2("p", { class: "faint", children: "No output." }),
      call.childAgentSessionId && /* @__PURE__ */ a2("p", { children: /* @__PURE__ */ a2("a", { href: `#/${encodeURIComponent(message.workspaceId)}/${encodeURIComponent(call.childAgentSessionId)}`, children: "Open the sub-agent's session" }) }),
      /* @__PURE__ */ a2(Cut, { message })
    ] })
  ] });
}
function ToolInput({ input }) {
  if (input === null || input === void 0 || input === "") return null;
  const command = typeof input === "object" && "command" in input ? input.command : null;
  const words = Array.isArray(command) ? command.join(" ") : command;
  const text = typeof input === "string" ? input : typeof words === "string" ? words : JSON.stringify(input, null, 2);
  return text === "{}" ? null : /* @__PURE__ */ a2("pre", { class: "input", tabIndex: 0, children: clipped(text).text });
}
function Output({ text }) {
  return /* @__PURE__ */ a2("pre", { class: "output", tabIndex: 0, dir: "auto", children: clipped(text).text });
}
function Change({ change }) {
  const verb = { add: "new", update: "changed", delete: "deleted", move: "moved" }[change.kind] ?? change.kind;
  return /* @__PURE__ */ a2("figure", { class: "change", children: [
    /* @__PURE__ */ a2("figcaption", { children: [
      /* @__PURE__ */ a2("span", { class: "path", children: visible(change.path) }),
      " ",
      /* @__PURE__ */ a2("span", { class: "faint", children: verb })
    ] }),
    change.diff && /* @__PURE__ */ a2("pre", { tabIndex: 0, children: clipped(change.diff.trimEnd()).text.split("\n").map((line, index) => /* @__PURE__ */ a2("span", { class: lineKind(line), children: `${visible(line.replace(/\r$/, ""))}
` }, index)) })
  ] });
}
function lineKind(line) {
  if (/^(@@|\+\+\+ |--- )/.test(line)) return "place";
  return line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "";
}
function Plan({ entries }) {
  const words = { pending: "to do", in_progress: "in progress", completed: "done" };
  return /* @__PURE__ */ a2("ul", { class: "plan", "aria-label": "Plan", children: entries.map((entry, index) => /* @__PURE__ */ a2("li", { class: entry.status, children: [
    /* @__PURE__ */ a2("span", { class: "mark", "aria-hidden": "true", children: entry.status === "completed" && /* @__PURE__ */ a2(Icon, { name: "check" }) }),
    /* @__PURE__ */ a2("span", { dir: "auto", children: entry.text }),
    /* @__PURE__ */ a2("span", { class: "unseen", children: words[entry.status] ?? "" })
  ] }, index)) });
}
function contents(message) {
  return message.content.map((block, index) => {
    switch (block.type) {
      case "text":
        return message.role === "user" ? block.text : /* @__PURE__ */ a2(Markdown, { text: block.text }, index);
      case "image":
        return /* @__PURE__ */ a2("span", { class: "attachment", children: [
          /* @__PURE__ */ a2(Icon, { name: "file" }),
          " ",
          block.mediaType,
          ", ",
          bytes(block.bytes)
        ] }, index);
      case "resource_link":
        return /* @__PURE__ */ a2("span", { class: "attachment", children: [
          /* @__PURE__ */ a2(Icon, { name: "file" }),
          " ",
          block.name || block.uri
        ] }, index);
      case "plan":
        return /* @__PURE__ */ a2(Plan, { entries: block.entries }, index);
      case "notice":
        return /* @__PURE__ */ a2("p", { class: `notice ${block.severity}`, children: [
          block.severity !== "info" && /* @__PURE__ */ a2(Icon, { name: "warning" }),
          /* @__PURE__ */ a2("span", { children: block.text })
        ] }, index);
      default:
        return null;
    }
  });
}
function Cut({ message }) {
  return message.truncated ? /* @__PURE__ */ a2("p", { class: "faint", children: "Cut here: it was longer than Greenroom keeps." }) : null;
}
function Dots() {
  return /* @__PURE__ */ a2("span", { class: "dots", "aria-hidden": "true", children: [
    /* @__PURE__ */ a2("i", {}),
    /* @__PURE__ */ a2("i", {}),
    /* @__PURE__ */ a2("i", {})
  ] });
}

// src/views/question.tsx
function Question({ interaction, state, dispatch }) {
  const isSent = state.commands.some(
    (one) => one.method === "interaction/respond" && one.params.requestId === interaction.requestId && one.params.agentSessionId === interaction.agentSessionId
  );
  const isFixed = isSent || !canControl(state);
  const isOfChild = interaction.agentSessionId !== state.open?.agentSessionId;
  const { input } = interaction;
  return /* @__PURE__ */ a2("section", { class: "question", "aria-label": WORDS[interaction.kind] ?? "The agent asks", "aria-busy": isSent, children: [
    /* @__PURE__ */ a2("p", { class: "kicker", children: [
      /* @__PURE__ */ a2(Icon, { name: interaction.kind === "approval" ? "shield" : "question" }),
      WORDS[interaction.kind] ?? "The agent asks",
      isOfChild && /* @__PURE__ */ a2("a", { href: addressOf(interaction.workspaceId, interaction.agentSessionId), children: "in a sub-agent" })
    ] }),
    "questions" in input ? /* @__PURE__ */ a2(Questions, { input, interaction, isFixed, dispatch }) : /* @__PURE__ */ a2($, { children: [
      /* @__PURE__ */ a2("div", { class: "asked", children: "callId" in input ? /* @__PURE__ */ a2(Approval, { input }) : input.markdown !== void 0 ? /* @__PURE__ */ a2(Markdown, { text: input.markdown }) : /* @__PURE__ */ a2(Plan, { entries: input.entries ?? [] }) }),
      /* @__PURE__ */ a2(Options, { interaction, isFixed, dispatch })
    ] })
  ] });
}
var WORDS = {
  approval: "The agent asks for permission",
  question: "The agent has a question",
  plan: "The agent proposes a plan"
};
function Approval({ input }) {
  return /* @__PURE__ */ a2($, { children: [
    /* @__PURE__ */ a2("h2", { dir: "auto", children: visible(input.title) }),
    input.reason && /* @__PURE__ */ a2("p", { dir: "auto", children: visible(input.reason) }),
    input.prompt && /* @__PURE__ */ a2("p", { dir: "auto", children: visible(input.prompt) }),
    input.command && /* @__PURE__ */ a2("pre", { class: "input", tabIndex: 0, children: clipped(visible(input.command)).text }),
    input.url && /* @__PURE__ */ a2("p", { class: "path", children: visible(input.url) }),
    input.cwd && /* @__PURE__ */ a2("p", { class: "faint", children: [
      "in ",
      /* @__PURE__ */ a2("span", { class: "path", children: visible(input.cwd) })
    ] }),
    input.changes?.map((change) => /* @__PURE__ */ a2(Change, { change }, change.path))
  ] });
}
function Options({ interaction, isFixed, dispatch }) {
  const answer = (optionId, feedback) => dispatch({ type: "answer_given", interaction, answer: feedback ? { optionId, feedback } : { optionId } });
  const withFeedback = interaction.kind === "plan" ? interaction.options.find((option) => option.kind === "reject_once") : void 0;
  const first = interaction.options.find((option) => option.kind.startsWith("allow"));
  return /* @__PURE__ */ a2("div", { class: "options", role: "group", "aria-label": "Answers", children: [
    interaction.options.map((option) => /* @__PURE__ */ a2("button", { type: "button", disabled: isFixed, class: option === first ? "primary" : isRefusal(option) ? "danger" : "", onClick: () => answer(option.optionId), children: visible(option.label) }, option.optionId)),
    withFeedback && /* @__PURE__ */ a2("form", { class: "feedback", onSubmit: (event) => {
      event.preventDefault();
      answer(withFeedback.optionId, fieldOf(event, "feedback"));
    }, children: [
      /* @__PURE__ */ a2("label", { class: "unseen", for: `feedback-${interaction.requestId}`, children: "What should be different" }),
      /* @__PURE__ */ a2("input", { id: `feedback-${interaction.requestId}`, name: "feedback", placeholder: "What should be different?", required: true, disabled: isFixed }),
      /* @__PURE__ */ a2("button", { type: "submit", disabled: isFixed, children: "Ask for changes" })
    ] })
  ] });
}
function isRefusal(option) {
  return option.kind === "reject_once" || option.kind === "reject_always" || option.kind === "stop";
}
function Questions({ input, interaction, isFixed, dispatch }) {
  const submit = (event) => {
    event.preventDefault();
    const element = event.currentTarget;
    const form = new FormData(element);
    const missing = input.questions.find((one) => answerOf(form, one) === "");
    const field = missing && element.elements.namedItem(`${missing.id}.text`);
    if (field instanceof HTMLInputElement) {
      field.setCustomValidity("Choose an answer, or write one.");
      field.reportValidity();
      field.setCustomValidity("");
      return;
    }
    const answers = input.questions.map((one) => [one.id, answerOf(form, one)]);
    dispatch({ type: "answer_given", interaction, answer: { answersByQuestionId: Object.fromEntries(answers) } });
  };
  return /* @__PURE__ */ a2("form", { class: "asked", onSubmit: submit, children: [
    input.questions.map((one) => /* @__PURE__ */ a2(Field, { asked: one, isFixed, name: one.id }, one.id)),
    /* @__PURE__ */ a2("div", { class: "options", children: [
      /* @__PURE__ */ a2("button", { type: "submit", class: "primary", disabled: isFixed, children: "Answer" }),
      interaction.options.map((option) => /* @__PURE__ */ a2("button", { type: "button", disabled: isFixed, class: isRefusal(option) ? "danger" : "", onClick: () => dispatch({ type: "answer_given", interaction, answer: { optionId: option.optionId } }), children: visible(option.label) }, option.optionId))
    ] })
  ] });
}
function Field({ asked, isFixed, name }) {
  const type = asked.multiSelect ? "checkbox" : "radio";
  const hasOptions = asked.options !== void 0 && asked.options.length > 0;
  const text = {
    name: `${name}.text`,
    autocomplete: "off",
    "aria-label": hasOptions ? "Another answer" : asked.question,
    placeholder: hasOptions ? "Another answer" : "",
    required: !hasOptions
  };
  return /* @__PURE__ */ a2("fieldset", { disabled: isFixed, children: [
    /* @__PURE__ */ a2("legend", { children: [
      asked.header && /* @__PURE__ */ a2("span", { class: "faint", children: [
        asked.header,
        ": "
      ] }),
      asked.question
    ] }),
    asked.options?.map((option) => /* @__PURE__ */ a2("label", { class: "choice", children: [
      /* @__PURE__ */ a2("input", { type, name, value: option.label, required: type === "radio" && !asked.freeText }),
      /* @__PURE__ */ a2("span", { children: [
        option.label,
        option.description && /* @__PURE__ */ a2("span", { class: "faint", children: [
          " ",
          option.description
        ] })
      ] })
    ] }, option.label)),
    (asked.freeText || !hasOptions) && /* @__PURE__ */ a2("input", { ...asked.secret && { type: "password" }, ...text })
  ] });
}
function answerOf(form, asked) {
  const chosen2 = form.getAll(asked.id).map(String);
  const text = String(form.get(`${asked.id}.text`) ?? "").trim();
  if (asked.multiSelect) return text ? [...chosen2, text] : chosen2;
  return text || (chosen2[0] ?? "");
}
function fieldOf(event, name) {
  return String(new FormData(event.currentTarget).get(name) ?? "").trim();
}

// src/views/sidebar.tsx
var NEAR_END_PIXELS = 300;
var MINUTE_MS = 6e4;
function Sidebar({ state, dispatch }) {
  const { list } = state;
  const counts = pendingCounts(list);
  const names = new Map(state.targets.map((target) => [target.agentTargetId, target.name]));
  const entry = (item) => {
    const { agentSessionId, agentTargetId } = item.session;
    return /* @__PURE__ */ a2(
      Entry,
      {
        item,
        pending: counts.get(agentSessionId) ?? 0,
        target: names.get(agentTargetId) ?? agentTargetId,
        isOpen: state.open?.agentSessionId === agentSessionId,
        minute: Math.floor(Date.now() / MINUTE_MS)
      },
      agentSessionId
    );
  };
  const pinned = list.items.filter((item) => item.session.pinned);
  const others = list.items.filter((item) => !item.session.pinned);
  const more = (event) => {
    const area = event.currentTarget;
    if (area.scrollHeight - area.scrollTop - area.clientHeight < NEAR_END_PIXELS) dispatch({ type: "more_sessions_wanted" });
  };
  return /* @__PURE__ */ a2("nav", { class: "sidebar", "aria-label": "Sessions", children: [
    /* @__PURE__ */ a2("header", { children: [
      /* @__PURE__ */ a2("a", { class: "brand", href: addressOf(state.workspaceId, null), children: "Greenroom" }),
      /* @__PURE__ */ a2(
        "button",
        {
          type: "button",
          class: "round",
          "aria-label": "New session",
          title: "New session",
          disabled: !canControl(state),
          onClick: () => dispatch({ type: "creating_toggled", shown: true }),
          children: /* @__PURE__ */ a2(Icon, { name: "plus" })
        }
      )
    ] }),
    /* @__PURE__ */ a2("div", { class: "sessions", onScroll: more, children: [
      list.phase === "loading" && /* @__PURE__ */ a2(Skeleton, {}),
      list.phase === "ready" && list.items.length === 0 && /* @__PURE__ */ a2("p", { class: "faint empty", children: "No sessions yet." }),
      pinned.length > 0 && /* @__PURE__ */ a2(Group, { title: "Pinned", children: pinned.map(entry) }),
      others.length > 0 && /* @__PURE__ */ a2(Group, { title: pinned.length > 0 ? "Recent" : null, children: others.map(entry) }),
      list.cursor !== null && /* @__PURE__ */ a2("button", { type: "button", class: "quiet wide", disabled: list.loadingMore, onClick: () => dispatch({ type: "more_sessions_wanted" }), children: list.loadingMore ? "Loading …" : "Show more" })
    ] }),
    /* @__PURE__ */ a2(Health, { state, dispatch })
  ] });
}
function Group({ title, children }) {
  return /* @__PURE__ */ a2("section", { children: [
    title && /* @__PURE__ */ a2("h2", { children: title }),
    /* @__PURE__ */ a2("ul", { children })
  ] });
}
var Entry = class extends x {
  shouldComponentUpdate(next) {
    const { item, pending, target, isOpen, minute } = this.props;
    return next.item !== item || next.pending !== pending || next.target !== target || next.isOpen !== isOpen || next.minute !== minute;
  }
  render(props) {
    return entryOf(props);
  }
};
function entryOf({ item, pending, target, isOpen }) {
  const { session } = item;
  const hasOwnFolder = folder(session.cwd) === session.agentSessionId;
  const works = item.phase !== null && item.phase !== "settled" && pending === 0;
  return /* @__PURE__ */ a2("li", { children: /* @__PURE__ */ a2("a", { class: "entry", href: addressOf(session.workspaceId, session.agentSessionId), "aria-current": isOpen ? "page" : void 0, children: [
    /* @__PURE__ */ a2("span", { class: "line", children: [
      /* @__PURE__ */ a2("span", { class: session.title ? "title" : "title untitled", dir: "auto", children: titleOf(session.title, item.excerpt) }),
      pending > 0 && /* @__PURE__ */ a2("span", { class: "badge", title: `${plural(pending, "question")} to answer`, children: [
        pending,
        /* @__PURE__ */ a2("span", { class: "unseen", children: " to answer" })
      ] }),
      works && /* @__PURE__ */ a2("span", { class: "pulse", title: "working", children: /* @__PURE__ */ a2("span", { class: "unseen", children: "working" }) }),
      session.runtime.state === "quarantined" && /* @__PURE__ */ a2(Icon, { name: "warning" })
    ] }),
    /* @__PURE__ */ a2("span", { class: "line faint", children: [
      /* @__PURE__ */ a2("span", { class: "where", children: hasOwnFolder ? target : `${target} · ${folder(session.cwd)}` }),
      /* @__PURE__ */ a2("time", { title: moment(session.updatedAt), children: ago(session.updatedAt, Date.now()) })
    ] })
  ] }) });
}
function titleOf(title, excerpt) {
  return title || excerpt || "Untitled session";
}
function Skeleton() {
  return /* @__PURE__ */ a2("div", { class: "skeleton", role: "status", "aria-label": "Loading sessions", children: [1, 2, 3, 4].map((line) => /* @__PURE__ */ a2("i", {}, line)) });
}
var HEALTH_WORDS = {
  ok: "All is well",
  degraded: "Something needs attention",
  failing: "Greenroom is failing"
};
function Health({ state, dispatch }) {
  const { health, connection, server } = state;
  const status = connection.phase === "open" ? health?.status ?? "ok" : "offline";
  const words = connection.phase === "open" ? health ? HEALTH_WORDS[health.status] ?? health.status : "Connected" : "Not connected";
  return /* @__PURE__ */ a2("details", { class: "health", onToggle: (event) => event.currentTarget.open && dispatch({ type: "health_wanted" }), children: [
    /* @__PURE__ */ a2("summary", { children: [
      /* @__PURE__ */ a2("span", { class: `lamp ${status}`, "aria-hidden": "true" }),
      words
    ] }),
    /* @__PURE__ */ a2("div", { class: "body", children: [
      health?.problems.map((problem) => /* @__PURE__ */ a2("p", { class: "notice warning", children: /* @__PURE__ */ a2("span", { children: [
        problem.code.replaceAll("_", " "),
        " since ",
        moment(problem.since),
        problem.agentSessionId && `: session ${problem.agentSessionId}`
      ] }) }, `${problem.code} ${problem.agentSessionId}`)),
      health && /* @__PURE__ */ a2("dl", { children: [
        /* @__PURE__ */ a2("dt", { children: "Working" }),
        /* @__PURE__ */ a2("dd", { children: plural(health.live.turns, "turn") }),
        /* @__PURE__ */ a2("dt", { children: "Live" }),
        /* @__PURE__ */ a2("dd", { children: [
          plural(health.live.sessions, "session"),
          " on ",
          plural(health.live.connections, "connection")
        ] }),
        /* @__PURE__ */ a2("dt", { children: "Database" }),
        /* @__PURE__ */ a2("dd", { children: [
          bytes(health.store.bytes + health.store.walBytes),
          ", ",
          bytes(health.store.freeBytes),
          " free"
        ] })
      ] }),
      /* @__PURE__ */ a2("dl", { children: [
        /* @__PURE__ */ a2("dt", { children: "Workspace" }),
        /* @__PURE__ */ a2("dd", { children: state.workspaceId }),
        server && /* @__PURE__ */ a2($, { children: [
          /* @__PURE__ */ a2("dt", { children: "Version" }),
          /* @__PURE__ */ a2("dd", { children: server.serverInfo.version })
        ] }),
        server && /* @__PURE__ */ a2($, { children: [
          /* @__PURE__ */ a2("dt", { children: "Token" }),
          /* @__PURE__ */ a2("dd", { children: server.scope === "read" ? "may read" : server.scope === "control" ? "may read and control" : "may do everything" })
        ] })
      ] })
    ] })
  ] });
}

// src/views/transcript_view.tsx
var NEAR_PIXELS = 120;
var Transcript = class extends x {
  state = { away: false };
  area = M();
  follows = true;
  /** The field below grows and shrinks, and so does this one. */
  resized = new ResizeObserver(() => this.follows && this.toEnd());
  componentDidMount() {
    this.toEnd();
    if (this.area.current) this.resized.observe(this.area.current);
  }
  componentWillUnmount() {
    this.resized.disconnect();
  }
  getSnapshotBeforeUpdate() {
    const area = this.area.current;
    return area ? area.scrollHeight - area.scrollTop : 0;
  }
  componentDidUpdate(before, _3, fromEnd) {
    const area = this.area.current;
    if (!area) return;
    if (this.follows && !this.props.open.hasNewer) return this.toEnd();
    const grewAbove = before.open.messages[0] !== this.props.open.messages[0];
    if (grewAbove && before.open.messages.length > 0) area.scrollTop = area.scrollHeight - fromEnd;
  }
  toEnd() {
    const area = this.area.current;
    if (area) area.scrollTop = area.scrollHeight;
  }
  scrolled = () => {
    const area = this.area.current;
    if (!area) return;
    this.follows = area.scrollHeight - area.scrollTop - area.clientHeight < NEAR_PIXELS;
    if (this.state.away === this.follows) this.setState({ away: !this.follows });
    if (area.scrollTop < NEAR_PIXELS && this.props.open.hasOlder) this.props.dispatch({ type: "older_wanted" });
  };
  newest = () => {
    this.follows = true;
    this.setState({ away: false });
    if (this.props.open.hasNewer) this.props.dispatch({ type: "newest_wanted" });
    this.toEnd();
  };
  render({ open, dispatch }, { away }) {
    const asked = interactionsByCall(open);
    return /* @__PURE__ */ a2("div", { class: "transcript-frame", children: [
      /* @__PURE__ */ a2("div", { class: "transcript", ref: this.area, onScroll: this.scrolled, tabIndex: 0, role: "region", "aria-label": "Transcript", children: /* @__PURE__ */ a2("div", { class: "column", children: [
        open.hasOlder && /* @__PURE__ */ a2("button", { type: "button", class: "quiet wide", disabled: open.loadingOlder, onClick: () => dispatch({ type: "older_wanted" }), children: open.loadingOlder ? "Loading …" : "Show earlier messages" }),
        open.phase === "loading" && /* @__PURE__ */ a2("div", { class: "skeleton", role: "status", "aria-label": "Loading the transcript", children: [
          /* @__PURE__ */ a2("i", {}),
          /* @__PURE__ */ a2("i", {}),
          /* @__PURE__ */ a2("i", {})
        ] }),
        open.phase === "ready" && open.messages.length === 0 && open.outgoing.length === 0 && !open.hasOlder && /* @__PURE__ */ a2("p", { class: "faint empty", children: "Nothing has been said yet." }),
        turnsOf(open.messages).map(({ turnId, messages }, index, all) => /* @__PURE__ */ a2("section", { class: "turn", children: [
          messages.map((message) => /* @__PURE__ */ a2(Row, { message, interaction: asked.get(message.toolCall?.callId ?? "") ?? null }, message.messageId)),
          /* @__PURE__ */ a2(End, { turn: turnId === null ? null : open.turns.get(turnId)?.row ?? null, isLast: index === all.length - 1 })
        ] }, `${turnId}/${messages[0]?.sequence}`)),
        open.outgoing.map((one) => /* @__PURE__ */ a2("article", { class: "row prompt sending", "aria-label": "You, being sent", children: /* @__PURE__ */ a2("div", { class: "bubble plain", dir: "auto", children: one.text }) }, one.clientSubmitId)),
        /* @__PURE__ */ a2(Working, { open })
      ] }) }),
      (away || open.hasNewer) && /* @__PURE__ */ a2("button", { type: "button", class: "newest", onClick: this.newest, children: "Newest" })
    ] });
  }
};
function Working({ open }) {
  const turn = unsettledTurn(open);
  const last = open.messages.at(-1);
  if (!turn || turn.phase === "waiting" || open.hasNewer) return null;
  if (last?.status === "streaming" && last.turnId === turn.turnId && last.role !== "user") return null;
  const words = { submitted: "Starting the agent", running: "Working", settling: "Stopping" }[turn.phase] ?? "Working";
  return /* @__PURE__ */ a2("p", { class: "working faint", role: "status", children: [
    words,
    /* @__PURE__ */ a2(Dots, {})
  ] });
}
function End({ turn, isLast }) {
  if (!turn || turn.phase !== "settled") return null;
  switch (turn.outcome) {
    case "failed": {
      const { what, next } = failure(turn.error);
      const reason = turn.error?.code === "provider.stopped" && turn.stopReason ? ` (${turn.stopReason})` : "";
      return /* @__PURE__ */ a2("p", { class: "notice error", children: [
        /* @__PURE__ */ a2(Icon, { name: "warning" }),
        /* @__PURE__ */ a2("span", { children: [
          /* @__PURE__ */ a2("strong", { children: what }),
          reason,
          " ",
          next
        ] })
      ] });
    }
    case "canceled":
      return /* @__PURE__ */ a2("p", { class: "end", children: [
        "Stopped",
        turn.cancelRequestedAt === null && " by the agent"
      ] });
    case "interrupted":
      return /* @__PURE__ */ a2("p", { class: "end", children: turn.delivery === "not_dispatched" ? "Interrupted before the agent got the prompt. Send it again." : "Interrupted: Greenroom was stopped in the middle." });
    default: {
      if (!isLast || turn.startedAt === null || turn.settledAt === null) return null;
      return /* @__PURE__ */ a2("p", { class: "end quiet-end", children: duration(turn.settledAt - turn.startedAt) });
    }
  }
}
function turnsOf(messages) {
  const turns = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (last && last.turnId === message.turnId) last.messages.push(message);
    else turns.push({ turnId: message.turnId, messages: [message] });
  }
  return turns;
}
function interactionsByCall(open) {
  const found = /* @__PURE__ */ new Map();
  for (const { row } of open.interactions.values()) {
    if (row.agentSessionId === open.agentSessionId && "callId" in row.input) found.set(row.input.callId, row);
  }
  return found;
}

// src/views/session_view.tsx
function SessionView({ state, dispatch, open }) {
  const pending = pendingInteractions(open);
  return /* @__PURE__ */ a2("section", { class: "session", "aria-label": "Session", children: [
    /* @__PURE__ */ a2(Head, { state, dispatch, open }, open.agentSessionId),
    open.phase === "failed" ? /* @__PURE__ */ a2(Unreadable, { state, dispatch, open }) : open.phase === "deleted" ? /* @__PURE__ */ a2("div", { class: "welcome", children: [
      /* @__PURE__ */ a2("h1", { children: "This session was deleted" }),
      /* @__PURE__ */ a2("p", { children: "It is kept until somebody purges it." }),
      /* @__PURE__ */ a2("p", { class: "buttons", children: [
        canCall(state, "session/restore") && /* @__PURE__ */ a2("button", { type: "button", class: "primary", onClick: () => dispatch({ type: "restoration_wanted" }), children: "Restore it" }),
        /* @__PURE__ */ a2("a", { class: "button", href: addressOf(state.workspaceId, null), children: "Back to the list" })
      ] })
    ] }) : /* @__PURE__ */ a2($, { children: [
      /* @__PURE__ */ a2(Transcript, { open, dispatch }, open.agentSessionId),
      /* @__PURE__ */ a2("footer", { children: [
        pending.map((interaction) => /* @__PURE__ */ a2(Question, { interaction, state, dispatch }, `${interaction.agentSessionId}/${interaction.requestId}`)),
        /* @__PURE__ */ a2(Composer, { state, dispatch, open })
      ] })
    ] })
  ] });
}
var Head = class extends x {
  state = { isRenaming: false };
  field = M();
  componentDidUpdate(_3, before) {
    if (this.state.isRenaming && !before.isRenaming) this.field.current?.select();
  }
  rename = (event) => {
    event.preventDefault();
    this.props.dispatch({ type: "title_given", title: this.field.current?.value ?? "" });
    this.setState({ isRenaming: false });
  };
  render({ state, dispatch, open }, { isRenaming }) {
    const session = open.session?.row ?? null;
    const excerpt = state.list.items.find((item) => item.session.agentSessionId === open.agentSessionId)?.excerpt ?? null;
    const can = (method) => session !== null && session.parent === null && open.phase === "ready" && canCall(state, method);
    return /* @__PURE__ */ a2("header", { class: "head", children: [
      /* @__PURE__ */ a2("a", { class: "back", href: addressOf(state.workspaceId, null), "aria-label": "Back to the list", children: /* @__PURE__ */ a2(Icon, { name: "back" }) }),
      /* @__PURE__ */ a2("div", { class: "names", children: [
        isRenaming ? /* @__PURE__ */ a2("form", { class: "field-row", onSubmit: this.rename, onKeyDown: (event) => event.key === "Escape" && this.setState({ isRenaming: false }), children: [
          /* @__PURE__ */ a2("input", { ref: this.field, "aria-label": "Title", defaultValue: session?.title ?? "", maxLength: 500, dir: "auto" }),
          /* @__PURE__ */ a2("button", { type: "submit", children: "Rename" })
        ] }) : /* @__PURE__ */ a2("h1", { dir: "auto", children: session ? titleOf(session.title, excerpt) : open.phase === "loading" ? "Loading …" : "Session" }),
        session && !isRenaming && /* @__PURE__ */ a2(About, { session, state })
      ] }),
      can("session/rename") && !isRenaming && /* @__PURE__ */ a2("button", { type: "button", class: "quiet round", "aria-label": "Rename", title: "Rename", onClick: () => this.setState({ isRenaming: true }), children: /* @__PURE__ */ a2(Icon, { name: "pencil" }) }),
      can("session/pin") && /* @__PURE__ */ a2(
        "button",
        {
          type: "button",
          class: session?.pinned ? "quiet round pinned" : "quiet round",
          "aria-pressed": session?.pinned === true,
          "aria-label": "Pinned",
          title: session?.pinned ? "Unpin" : "Pin to the top of the list",
          onClick: () => dispatch({ type: "pin_wanted", pinned: session?.pinned !== true }),
          children: /* @__PURE__ */ a2(Icon, { name: "pin" })
        }
      ),
      can("session/delete") && can("session/restore") && /* @__PURE__ */ a2("button", { type: "button", class: "quiet round", "aria-label": "Delete", title: "Delete (it can be restored)", onClick: () => dispatch({ type: "deletion_wanted" }), children: /* @__PURE__ */ a2(Icon, { name: "bin" }) })
    ] });
  }
};
function canCall(state, method) {
  return canControl(state) && state.server?.capabilities.methods.includes(method) === true;
}
function About({ session, state }) {
  const target = state.targets.find((one) => one.agentTargetId === session.agentTargetId)?.name ?? session.agentTargetId;
  const { usage } = session;
  const share = usage?.contextTokens && usage.contextWindow ? Math.round(100 * usage.contextTokens / usage.contextWindow) : null;
  return /* @__PURE__ */ a2("p", { class: "faint", children: [
    /* @__PURE__ */ a2("span", { children: target }),
    /* @__PURE__ */ a2("span", { class: "cwd", title: session.cwd, children: session.cwd }),
    share !== null && /* @__PURE__ */ a2("span", { title: `${count(usage?.contextTokens ?? 0)} of ${count(usage?.contextWindow ?? 0)} tokens`, children: [
      share,
      "% of context"
    ] }),
    usage?.costUsd != null && /* @__PURE__ */ a2("span", { children: [
      "$",
      usage.costUsd.toFixed(2)
    ] })
  ] });
}
function Unreadable({ state, dispatch, open }) {
  const code = open.failure ?? "internal";
  const { what, next } = failure({ code, message: "", origin: "runtime", retryable: false });
  return /* @__PURE__ */ a2("div", { class: "welcome", role: "alert", children: [
    /* @__PURE__ */ a2("h1", { children: what }),
    /* @__PURE__ */ a2("p", { children: next }),
    /* @__PURE__ */ a2("p", { class: "buttons", children: [
      /* @__PURE__ */ a2("button", { type: "button", onClick: () => dispatch({ type: "session_chosen", agentSessionId: open.agentSessionId }), children: "Try again" }),
      /* @__PURE__ */ a2("a", { class: "button", href: addressOf(state.workspaceId, null), children: "Back to the list" })
    ] })
  ] });
}

// src/views/sign_in.tsx
function SignIn({ refused: refused2, give }) {
  const submit = (event) => {
    event.preventDefault();
    const field = event.currentTarget.elements.namedItem("token");
    const token = /token=([A-Za-z0-9_-]+)/.exec(field.value)?.[1] ?? field.value.trim();
    if (token) give(token);
    field.value = "";
  };
  return /* @__PURE__ */ a2("main", { class: "sign-in", children: /* @__PURE__ */ a2("form", { onSubmit: submit, children: [
    /* @__PURE__ */ a2("h1", { children: "Greenroom" }),
    refused2 ? /* @__PURE__ */ a2("p", { class: "notice error", role: "alert", children: /* @__PURE__ */ a2("span", { children: [
      /* @__PURE__ */ a2("strong", { children: "Greenroom refused the token." }),
      " It may have been replaced. Open the newest link, or paste the present token."
    ] }) }) : /* @__PURE__ */ a2("p", { children: [
      "This page needs the daemon's token. ",
      /* @__PURE__ */ a2("code", { children: "greenroom serve" }),
      " prints a link with it in its terminal: open that link, or paste it here."
    ] }),
    /* @__PURE__ */ a2("label", { for: "token", children: "Token or link" }),
    /* @__PURE__ */ a2("div", { class: "field-row", children: [
      /* @__PURE__ */ a2("input", { id: "token", name: "token", type: "password", autocomplete: "off", spellcheck: false, required: true, autofocus: true }),
      /* @__PURE__ */ a2("button", { type: "submit", class: "primary", children: "Open" })
    ] }),
    /* @__PURE__ */ a2("p", { class: "faint", children: [
      "The token also stands in the file named by ",
      /* @__PURE__ */ a2("code", { children: "tokenFile" }),
      " in the daemon's ready line. This tab forgets it when it is closed."
    ] })
  ] }) });
}

// src/views/app.tsx
function App({ state, dispatch, giveToken }) {
  const { phase } = state.connection;
  if (phase === "no_token" || phase === "refused") return /* @__PURE__ */ a2(SignIn, { refused: phase === "refused", give: giveToken });
  return /* @__PURE__ */ a2("div", { class: `page ${state.open ? "has-session" : ""}`, children: [
    /* @__PURE__ */ a2(Sidebar, { state, dispatch }),
    /* @__PURE__ */ a2("main", { children: [
      /* @__PURE__ */ a2(Banner, { connection: state.connection, state }),
      state.open ? /* @__PURE__ */ a2(SessionView, { state, dispatch, open: state.open }) : /* @__PURE__ */ a2(Welcome, { state, dispatch })
    ] }),
    state.creating && /* @__PURE__ */ a2(NewSession, { state, dispatch }),
    /* @__PURE__ */ a2(Problems, { state, dispatch }),
    /* @__PURE__ */ a2("p", { class: "unseen", role: "status", "aria-live": "polite", children: state.announcement })
  ] });
}
function Banner({ connection, state }) {
  const text = bannerText(connection, state);
  return text === null ? null : /* @__PURE__ */ a2("div", { class: "banner", role: "status", children: [
    /* @__PURE__ */ a2("span", { class: "spinner", "aria-hidden": "true" }),
    " ",
    text
  ] });
}
function bannerText(connection, state) {
  if (state.shutdown) return "Greenroom is stopping. This page reconnects when it is back.";
  if (connection.phase !== "waiting" && connection.phase !== "connecting") return null;
  switch (connection.why) {
    case "unreachable":
      return "Greenroom is not reachable. Start it again if it was stopped; this page reconnects by itself.";
    case "shutdown":
      return "Greenroom was stopped. This page reconnects when it is back.";
    case "too_slow":
      return "This page fell too far behind and was disconnected. Reconnecting …";
    case "closed":
      return "The connection was lost. Reconnecting …";
    case null:
      return null;
  }
}
function Welcome({ state, dispatch }) {
  const isEmpty = state.list.phase === "ready" && state.list.items.length === 0;
  return /* @__PURE__ */ a2("section", { class: "welcome", children: [
    /* @__PURE__ */ a2("h1", { children: isEmpty ? "The stage is empty" : "Greenroom" }),
    /* @__PURE__ */ a2("p", { children: isEmpty ? "Start a session: choose an agent and tell it what to do." : "Choose a session, or start a new one." }),
    /* @__PURE__ */ a2("button", { type: "button", class: "primary", onClick: () => dispatch({ type: "creating_toggled", shown: true }), disabled: !canControl(state), children: [
      /* @__PURE__ */ a2(Icon, { name: "plus" }),
      " New session"
    ] }),
    !canControl(state) && state.server && /* @__PURE__ */ a2("p", { class: "faint", children: "Your token may read only." })
  ] });
}
function canControl(state) {
  return state.server !== null && state.server.scope !== "read";
}
function Problems({ state, dispatch }) {
  return /* @__PURE__ */ a2("div", { class: "problems", role: "alert", children: state.problems.map((problem) => /* @__PURE__ */ a2("div", { class: "problem", children: [
    /* @__PURE__ */ a2(Icon, { name: "warning" }),
    /* @__PURE__ */ a2("p", { children: [
      /* @__PURE__ */ a2("strong", { children: problem.what }),
      " ",
      problem.next
    ] }),
    /* @__PURE__ */ a2("button", { type: "button", class: "quiet", "aria-label": "Dismiss", onClick: () => dispatch({ type: "problem_dismissed", id: problem.id }), children: /* @__PURE__ */ a2(Icon, { name: "cross" }) })
  ] }, problem.id)) });
}

// src/main.tsx
var CLOCK_MS = 3e4;
var root = document.getElementById("console");
if (root === null) throw new Error("the page has no place for the console");
var driver = new Driver((state) => {
  Q(/* @__PURE__ */ a2(App, { state, dispatch: driver.dispatch, giveToken: driver.giveToken }), root);
  document.title = pageTitle(state);
});
setInterval(() => driver.drawSoon(), CLOCK_MS);
function pageTitle(state) {
  let waiting = 0;
  for (const count2 of pendingCounts(state.list).values()) waiting += count2;
  const open = state.open && state.list.items.find((item) => item.session.agentSessionId === state.open?.agentSessionId);
  const name = open ? `${titleOf(open.session.title, open.excerpt)} · Greenroom` : "Greenroom";
  return waiting > 0 ? `(${waiting}) ${name}` : name;
}
