import { dirname } from "node:path";
import { codeOf, type Import, importsOf, isTest, type SourceFile, unreadableImports } from "./source-imports.ts";

/**
 * What each folder of server/ may import besides itself. A name with a star stands for each folder below: two of them are
 * strangers to each other. The most particular line wins. ARCHITECTURE.md says why; a folder that is not here may not exist.
 */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  runtime: ["kernel"],
  wire: ["kernel"],
  store: ["runtime", "kernel"],
  directory: ["store", "runtime", "kernel"],
  ledger: ["store", "runtime", "kernel"],
  upstreams: ["wire", "runtime", "kernel"],
  road: ["directory", "ledger", "wire", "kernel"],
  "controls/*": ["road", "directory", "ledger", "wire", "kernel"],
  "services/*": ["road", "upstreams", "directory", "ledger", "wire", "kernel"],
  surfaces: ["services/*", "controls/*", "road", "wire", "kernel"],
  "surfaces/admin": ["services/*", "controls/*", "road", "directory", "ledger", "wire", "kernel"],
  "surfaces/portal": ["services/*", "controls/*", "road", "directory", "wire", "kernel"],
  "surfaces/scim": ["road", "directory", "wire", "kernel"],
  workers: ["services/*", "controls/*", "road", "directory", "ledger", "upstreams", "store", "wire", "kernel"],
  group: ["controls/*", "directory", "ledger", "store", "runtime", "kernel"],
  cli: ["ledger", "store", "runtime", "kernel"],
};

/** What directory/ answers with are records as store/ reads them: the only thing of another folder that is handed on, and only as types. */
const HANDS_ON_TYPES: Readonly<Record<string, string>> = { directory: "store" };

/** Our own packages, by who may import them. */
const PACKAGES_OF = {
  server: ["@gatehouse/contracts/", "@gatehouse/ledger-format/"],
  packages: ["@gatehouse/ledger-format/"],
  kit: [],
  app: ["@gatehouse/web-kit/", "@gatehouse/contracts/"],
};

/**
 * The files that put the parts together, with those of server/compose/: they may import anything, and nothing below may import
 * them.
 */
const TOP = ["main.ts", "compose.ts", "drivers.ts", "plane.ts", "routes.ts", "runtime-document.ts", "runtime-plane.ts", "welcome.ts"];

const namesRuntime = (path: string) => path.startsWith("server/runtime/") || path === "packages/scout/src/parse-config.ts";

const NO_NAMES = /^(utils?|helpers?|common|misc|index)(\.test)?(\.tsx?)?$/;
export const MAX_LINES = { source: 400, test: 500 };
/** A file holds one thing: most are small, and what grows past this is looked at for a second one in it. */
export const USUAL_LINES = { half: 60, nineOfTen: 150 };
export const MAX_FUNCTION_LINES = 120;

function namesBun({ source }: SourceFile): boolean {
  return /\bBun\b/.test(codeOf(source).code);
}

interface Layer {
  /** Its line in the table. */
  readonly line: string;
  /** The folder itself: of a line with a star one of its folders. */
  readonly folder: string;
}

/** The line of the table a file stands under, or undefined at the top of server/ and in server/compose/, which belongs to it. */
function layerOf(path: string): Layer | undefined {
  const [, first, second] = dirname(path).split("/");
  if (first === undefined || first === "compose") return undefined;
  const folder = second === undefined ? first : `${first}/${second}`;
  if (second !== undefined && folder in MAY_IMPORT) return { line: folder, folder };
  if (second !== undefined && `${first}/*` in MAY_IMPORT) return { line: `${first}/*`, folder };
  return { line: first, folder: first };
}

function layerViolations(path: string, { target, written, handsOn }: Import): string[] {
  const from = layerOf(path);
  if (from === undefined) return [];
  const allowed = MAY_IMPORT[from.line];
  if (allowed === undefined) return [`${path}: server/${from.folder}/ is not in the table of layers`];
  const to = layerOf(target);
  if (to === undefined) return [`${path}: imports ${written}, but nothing imports the top of server/`];
  // A folder with lines of its own inside another (surfaces/admin) is at home in it.
  const inside = to.folder === from.folder || (!from.line.endsWith("/*") && to.folder.split("/")[0] === from.folder.split("/")[0]);
  if (!inside && !allowed.includes(to.line) && !allowed.includes(to.line.split("/")[0] ?? ""))
    return [`${path}: server/${from.folder}/ may not import server/${to.folder}/ (${written})`];
  const mayHandOn = inside || handsOn === null || (handsOn === "types" && HANDS_ON_TYPES[from.folder] === to.folder);
  return mayHandOn ? [] : [`${path}: server/${from.folder}/ may not hand on ${handsOn} of server/${to.folder}/ (${written})`];
}

const ours = (written: string, allowed: readonly string[]) =>
  !written.startsWith("@gatehouse/") || allowed.some((name) => written.startsWith(name));

/** The kit knows no app, an app no other app; of the rest of the repository they know the contracts. */
function webViolations(path: string, { written, target, relative }: Import): string[] {
  const home = path.split("/").slice(0, 2).join("/");
  if (relative) return target.startsWith(`${home}/`) ? [] : [`${path}: ${written} leaves ${home}/`];
  return ours(written, home === "web/kit" ? PACKAGES_OF.kit : PACKAGES_OF.app) ? [] : [`${path}: ${home}/ may not import ${written}`];
}

function importViolations(file: SourceFile, known: ReadonlySet<string>): string[] {
  const { path } = file;
  return importsOf(file).flatMap((found) => {
    const { written, target, relative } = found;
    const problems: string[] = [];
    if (relative && !known.has(target)) problems.push(`${path}: ${written} does not resolve to a file`);
    if (isTest(path)) return problems;
    if (relative && (isTest(target) || target.startsWith("tests/"))) problems.push(`${path}: imports a test (${written})`);
    if (/^bun(:|$)/.test(written) && !namesRuntime(path)) problems.push(`${path}: only server/runtime/ may import ${written}`);
    if (path.startsWith("web/")) problems.push(...webViolations(path, found));
    else if (path.startsWith("packages/")) {
      const home = path.split("/").slice(0, 2).join("/");
      if ((relative && !target.startsWith(`${home}/`)) || !ours(written, PACKAGES_OF.packages))
        problems.push(`${path}: a package imports nothing outside itself (${written})`);
      if (home === "packages/ledger-format" && !relative && !written.startsWith("node:"))
        problems.push(`${path}: packages/ledger-format has no dependency (${written})`);
    } else if (relative && target.startsWith("server/")) problems.push(...layerViolations(path, found));
    else if (!ours(written, PACKAGES_OF.server)) problems.push(`${path}: server/ may not import ${written}`);
    else if (relative && !target.startsWith("tests/"))
      problems.push(`${path}: ${written} leaves server/; a package is imported by its name`);
    return problems;
  });
}

function fileViolations(file: SourceFile): string[] {
  const { path, source } = file;
  const problems: string[] = [];
  const bad = path.split("/").find((part) => NO_NAMES.test(part));
  if (bad !== undefined) problems.push(`${path}: ${bad} names no idea`);
  if (!isTest(path) && dirname(path) === "server" && !TOP.includes(path.slice("server/".length)))
    problems.push(`${path}: only ${TOP.join(", ")} stand at the top of server/`);
  const lines = source.split("\n").length - (source.endsWith("\n") ? 1 : 0);
  const most = isTest(path) ? MAX_LINES.test : MAX_LINES.source;
  if (lines > most && !path.endsWith(".generated.ts")) problems.push(`${path}: ${lines} lines, more than ${most}`);
  if (isTest(path)) return problems;
  if (!namesRuntime(path) && namesBun(file)) problems.push(`${path}: only server/runtime/ may name Bun`);
  problems.push(...unreadableImports(file).map((problem) => `${path}: ${problem}`));
  return problems;
}

/** Every violation, each a line that starts with the file's path. `known` are the files an import may resolve to. */
export function violations(files: readonly SourceFile[], known: ReadonlySet<string>): string[] {
  return files.flatMap((file) => [...fileViolations(file), ...importViolations(file, known)]);
}

/** The sets of files that import each other in a circle, imports of types counted, each sorted. Tests are no part of one. */
export function circles(files: readonly SourceFile[]): string[][] {
  const sources = files.filter(({ path }) => !isTest(path));
  const graph = new Map(
    sources.map((file) => [
      file.path,
      importsOf(file)
        .filter(({ relative, starts }) => relative && !starts)
        .map(({ target }) => target),
    ]),
  );
  return strongComponents(graph)
    .filter((component) => component.length > 1 || graph.get(component[0] ?? "")?.includes(component[0] ?? ""))
    .map((component) => component.toSorted());
}

/** Tarjan's algorithm. */
function strongComponents(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const found: string[][] = [];
  const visit = (node: string): number => {
    const at = order.size;
    order.set(node, at);
    let low = at;
    open.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!graph.has(next)) continue;
      const known = order.get(next);
      if (known === undefined) low = Math.min(low, visit(next));
      else if (open.includes(next)) low = Math.min(low, known);
    }
    lowest.set(node, low);
    if (low === at) found.push(open.splice(open.indexOf(node)));
    return low;
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return found;
}

/** The first line of a function or method, or the line that opens the body of one that is a value. */
const FUNCTION_HEAD =
  /^( *)(?:(?:export )?(?:default )?(?:(?:private|public|protected|static|override|async|get|set|readonly) )*(?:function\*? |const \w+ = (?:async )?(?:function|\(|\w+ =>)|\*?#?\w+(?:<[^(]*>)?\()|.*=> [{(]$)/;

/**
 * Functions of more lines than allowed, by their formatted text: one ends with the closing brace at the indentation of its
 * first line. Tests are not measured.
 */
export function longFunctions(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, source }) => {
    if (isTest(path)) return [];
    const lines = source.split("\n");
    return lines.flatMap((line, at) => {
      const indent = FUNCTION_HEAD.exec(line)?.[1];
      if (indent === undefined || !/[{(]$/.test(line)) return [];
      const close = new RegExp(`^${indent}[})]`);
      let end = at + 1;
      // The head may take several lines of its own, closed by a line that opens the body.
      while (end < lines.length && (!close.test(lines[end] ?? "") || lines[end]?.endsWith("{") === true)) end++;
      const length = end - at + 1;
      return length > MAX_FUNCTION_LINES ? [`${path}:${at + 1}: a function of ${length} lines, more than ${MAX_FUNCTION_LINES}`] : [];
    });
  });
}

const EXPORTED = /^export (?:abstract )?(?:async )?(?:function\*?|const|class|interface|type|let) (\w+)/gm;

/** Names that more than one file exports a declaration of: a name has one meaning. Tests are no part of it. */
export function sharedNames(files: readonly SourceFile[]): string[] {
  const byName = new Map<string, Set<string>>();
  for (const { path, source } of files) {
    if (isTest(path)) continue;
    for (const [, name = ""] of source.matchAll(EXPORTED)) byName.set(name, (byName.get(name) ?? new Set()).add(path));
  }
  return [...byName].filter(([, paths]) => paths.size > 1).map(([name, paths]) => `${name}: ${[...paths].toSorted().join(", ")}`);
}
