import { dirname, join, normalize } from "node:path";

export interface SourceFile {
  /** From the root of the repository, with forward slashes. */
  readonly path: string;
  readonly source: string;
}

export interface Import {
  readonly written: string;
  /** Path from the root for a relative import, the name as written for a package. */
  readonly target: string;
  readonly relative: boolean;
  /** What the file re-exports of it: only types, or more. Null: nothing. */
  readonly handsOn: "types" | "values" | null;
  /** Entry file of a thread or process: no import cycle goes through it, because the two load their files separately. */
  readonly starts: boolean;
}

export const isTest = (path: string) => path.endsWith(".test.ts");

const COMMENT_OR_STRING = /\/\*[\s\S]*?\*\/|(?<![:\\])\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g;
const STATEMENT = /(?:^|[\n;])\s*(import|export)(\s+type\b)?\s*([^;]*?)\bfrom\s*"(\d+)"/g;
/** Side-effect imports, dynamic imports, and inline type imports. */
const IN_PLACE = /(?:^|[\n;])\s*import\s*"(\d+)"|\bimport\(\s*"(\d+)"\s*[,)]/g;
/** Entry files of threads and processes. */
const STARTED = /\bnew URL\(\s*"(\d+)",\s*import\.meta\.url|\bimport\.meta\.resolve\(\s*"(\d+)"/g;
const EXPORT_LIST = /(?:^|[\n;])\s*export(\s+type\b)?\s*\{([^}]*)\}(?!\s*from\b)/g;

/** The code without comments, with each string replaced by its index, because the content of strings is not code. */
export function codeOf(source: string): { code: string; strings: string[] } {
  const strings: string[] = [];
  const code = source.replace(COMMENT_OR_STRING, (text) => (text.startsWith("/") ? "" : `"${strings.push(text.slice(1, -1)) - 1}"`));
  return { code, strings };
}

/** The names that a clause such as `{ a, type b as c }` or `* as d` binds. */
function namesIn(clause: string): string[] {
  const parts = clause.replaceAll(/[{}]/g, ",").split(",");
  return parts.map((part) => part.trim().split(/\s+/).at(-1) ?? "").filter((name) => name !== "");
}

export function importsOf({ path, source }: SourceFile): Import[] {
  const { code, strings } = codeOf(source);
  const found = (at: string | undefined, handsOn: Import["handsOn"]): Import => {
    const written = strings[Number(at)] ?? "";
    const relative = written.startsWith(".");
    return { written, relative, handsOn, starts: false, target: relative ? normalize(join(dirname(path), written)) : written };
  };
  const handed = new Map<string, "types" | "values">();
  for (const [, type, names = ""] of code.matchAll(EXPORT_LIST))
    for (const part of names.split(",")) handed.set(part.trim().split(/\s+/)[0] ?? "", type === undefined ? "values" : "types");
  const statements = [...code.matchAll(STATEMENT)].map(([, word, type, clause = "", at]) => {
    if (word === "export") return found(at, type === undefined ? "values" : "types");
    const again = new Set(namesIn(clause).map((name) => handed.get(name)));
    return found(at, again.has("values") && type === undefined ? "values" : again.has("types") || again.has("values") ? "types" : null);
  });
  const inPlace = [...code.matchAll(IN_PLACE)].map((match) => found(match[1] ?? match[2], null));
  const started = [...code.matchAll(STARTED)]
    .map((match) => ({ ...found(match[1] ?? match[2], null), starts: true }))
    .filter(({ written }) => /\.tsx?$/.test(written));
  return [...statements, ...inPlace, ...started];
}

/** Imports whose target is not a plain string, so that no rule can check them. */
export function unreadableImports({ source }: SourceFile): string[] {
  const { code } = codeOf(source);
  const problems: string[] = [];
  if (/(?:^|\b(?:await|return|void|typeof)\b|=>|[=(,:?[|&;])\s*import\(\s*(?!"\d+"\s*[,)])/m.test(code))
    problems.push("import() names its file in a plain string");
  if (/\brequire\s*\(|\bcreateRequire\((?!import\.meta\.url\)\.resolve\()/.test(code))
    problems.push("require() is no import that the checks read");
  return problems;
}
