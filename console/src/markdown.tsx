// Markdown as elements. The text is the agent's: it never becomes markup, only text inside elements made here, so
// there is nothing to sanitise. Raw HTML shows as the characters it is, images as links, links only to the web.

import { marked, type MarkedToken, type Token, type Tokens } from "marked";
import type { ComponentChildren, JSX } from "preact";

const CHARACTERS_MOST = 100_000;
const DEPTH_MOST = 24;
const SAFE_SCHEMES = new Set(["http:", "https:", "mailto:"]);
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", "#39": "'" };

export function Markdown({ text }: { text: string }): JSX.Element {
  const tokens = text.length <= CHARACTERS_MOST ? lexed(text) : null;
  if (tokens === null) return <div class="markdown plain" dir="auto">{text}</div>;
  return <div class="markdown" dir="auto">{blocks(tokens, 0)}</div>;
}

function lexed(text: string): Token[] | null {
  try {
    return marked.lexer(text);
  } catch {
    // Nested deeper than the parser's stack: it is still a text that can be shown.
    return null;
  }
}

function blocks(tokens: readonly Token[], depth: number): ComponentChildren {
  if (depth > DEPTH_MOST) return tokens.map((token) => token.raw).join("");
  return tokens.map((token, index) => <Block key={index} token={token} depth={depth} />);
}

function Block({ token: given, depth }: { token: Token; depth: number }): JSX.Element | null {
  const token = given as MarkedToken;
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "code":
      return <Code text={token.text} language={token.lang ?? ""} />;
    case "heading":
      return <p class={`heading level-${Math.min(token.depth, 4)}`} role="heading" aria-level={token.depth + 2}>{inline(token.tokens, depth + 1)}</p>;
    case "hr":
      return <hr />;
    case "blockquote":
      return <blockquote>{blocks(token.tokens ?? [], depth + 1)}</blockquote>;
    case "list": {
      const items = token.items.map((item: Tokens.ListItem, index: number) => (
        <li key={index} class={item.task ? "task" : undefined}>
          {item.task && <input type="checkbox" checked={item.checked === true} disabled aria-label={item.checked ? "done" : "open"} />}
          {blocks(item.tokens.filter((one) => one.type !== "checkbox"), depth + 1)}
        </li>
      ));
      return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>;
    }
    case "table":
      return <Table token={token as Tokens.Table} depth={depth} />;
    case "paragraph":
      return <p>{inline(token.tokens ?? [], depth + 1)}</p>;
    case "text":
      return <span>{"tokens" in token && token.tokens ? inline(token.tokens, depth + 1) : decoded(token.text)}</span>;
    default:
      return <p class="plain">{given.raw}</p>;
  }
}

function Table({ token, depth }: { token: Tokens.Table; depth: number }): JSX.Element {
  const cell = (one: Tokens.TableCell): ComponentChildren => inline(one.tokens, depth + 1);
  const aligned = (one: Tokens.TableCell): string | undefined => (one.align ? `align-${one.align}` : undefined);
  return (
    <div class="table-frame" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>{token.header.map((one, index) => <th key={index} class={aligned(one)}>{cell(one)}</th>)}</tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            <tr key={index}>{row.map((one, place) => <td key={place} class={aligned(one)}>{cell(one)}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function Code({ text, language }: { text: string; language: string }): JSX.Element {
  const copy = (event: MouseEvent): void => {
    const button = event.currentTarget as HTMLButtonElement;
    void navigator.clipboard?.writeText(text).then(() => {
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
  };
  return (
    <figure class="code">
      <figcaption>
        <span>{language.split(/\s/)[0]}</span>
        <button type="button" class="quiet small" onClick={copy}>Copy</button>
      </figcaption>
      <pre tabIndex={0}><code>{text}</code></pre>
    </figure>
  );
}

function inline(tokens: readonly Token[], depth: number): ComponentChildren {
  if (depth > DEPTH_MOST) return tokens.map((token) => token.raw).join("");
  return tokens.map((given, index) => {
    const token = given as MarkedToken;
    switch (token.type) {
      case "strong":
        return <strong key={index}>{inline(token.tokens, depth + 1)}</strong>;
      case "em":
        return <em key={index}>{inline(token.tokens, depth + 1)}</em>;
      case "del":
        return <s key={index}>{inline(token.tokens, depth + 1)}</s>;
      case "codespan":
        return <code key={index}>{decoded(token.text)}</code>;
      case "br":
        return <br key={index} />;
      case "link":
        return <Link key={index} href={token.href}>{inline(token.tokens, depth + 1)}</Link>;
      case "image":
        return <Link key={index} href={token.href}>{token.text || token.href}</Link>;
      case "escape":
        return token.text;
      case "text":
        return "tokens" in token && token.tokens ? inline(token.tokens, depth + 1) : decoded(token.text);
      default:
        return given.raw;
    }
  });
}

/** A link to the web; anything else (`javascript:`, `data:`, a path) stays text, with its target in plain sight. */
export function Link({ href, children }: { href: string; children: ComponentChildren }): JSX.Element {
  if (!isSafe(href)) return <span>{children}</span>;
  return <a href={href} target="_blank" rel="noopener noreferrer" title={href}>{children}</a>;
}

export function isSafe(href: string): boolean {
  return URL.canParse(href) && SAFE_SCHEMES.has(new URL(href).protocol);
}

function decoded(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|apos|nbsp|#39);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}
