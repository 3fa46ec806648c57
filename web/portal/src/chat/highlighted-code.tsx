import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import css from "highlight.js/lib/languages/css";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import type { ReactNode } from "react";

for (const [name, language] of Object.entries({ bash, css, go, java, javascript, json, python, rust, sql, typescript, xml, yaml }))
  hljs.registerLanguage(name, language);

const LOOKS: Readonly<Record<string, string>> = {
  keyword: "text-accent font-semibold",
  built_in: "text-accent",
  string: "text-good",
  number: "text-warn",
  literal: "text-warn",
  comment: "text-muted italic",
  title: "font-semibold",
  attr: "text-accent",
  tag: "text-accent",
};

interface Token {
  readonly scope?: string;
  readonly children: readonly (Token | string)[];
}

function drawn(node: Token | string, key: number): ReactNode {
  if (typeof node === "string") return node;
  return (
    <span key={key} className={LOOKS[node.scope?.split(".")[0] ?? ""]}>
      {node.children.map(drawn)}
    </span>
  );
}

/** Longer code is not highlighted: each token would be an element. */
const MAX_LENGTH = 30_000;

/** Renders tokens as elements, because trusted types forbid inserting the library's HTML. */
export function HighlightedCode({ text, language }: { readonly text: string; readonly language: string }): ReactNode {
  const name = text.length > MAX_LENGTH || hljs.getLanguage(language) === undefined ? null : language;
  if (name === null) return <code className="font-mono text-sm">{text}</code>;
  const { _emitter: emitter } = hljs.highlight(text, { language: name, ignoreIllegals: true }) as unknown as {
    readonly _emitter: { readonly rootNode: Token };
  };
  return <code className="font-mono text-sm">{emitter.rootNode.children.map(drawn)}</code>;
}
