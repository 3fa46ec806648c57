import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const scanner = new Bun.Transpiler({ loader: "ts" });

/** Files of this project and packages that are loaded with `entry`, each with the file that imports it. */
function loadedWith(entry: string): Map<string, string> {
  const loaded = new Map([[entry, ""]]);
  for (const file of loaded.keys()) {
    if (!file.endsWith(".ts")) continue;
    for (const { path, kind } of scanner.scanImports(readFileSync(join(ROOT, file), "utf8"))) {
      const target = path.startsWith(".")
        ? join(dirname(file), path)
        : path.replace(/^@gatehouse\/contracts\/(.*)$/, "packages/contracts/src/$1.ts");
      if (kind === "import-statement" && !loaded.has(target)) loaded.set(target, file);
    }
  }
  return loaded;
}

const loaded = loadedWith("server/main.ts");

const NEVER: readonly (readonly [string, ...string[]])[] = [
  ["the price catalog", "@pydantic/genai-prices"],
  ["the mail client", "nodemailer"],
  ["the SQL parsers", "libpg-query", "@guanmingchiu/sqlparser-ts"],
  ["what makes archives", "fflate"],
  ["what reads documents", "@hyzyla/pdfium", "postal-mime", "@xmldom/xmldom"],
  ["the admin API", "server/surfaces/admin/app.ts", "server/surfaces/admin/routes.ts", "packages/contracts/src/ai-statements.ts"],
  ["the provisioning API", "server/surfaces/scim/app.ts", "scim2-parse-filter"],
  ["the runtime plane's document", "server/surfaces/openapi/runtime-routes.ts"],
];

test.each(NEVER.map(([what, ...names]) => ({ what, names })))("a start does not load $what", ({ names }) => {
  expect(loaded.has("server/compose.ts") && loaded.has("packages/contracts/src/conventions.ts") && loaded.has("kysely")).toBe(true);
  // A name that is misspelt would be missing too.
  expect(names.filter((name) => !existsSync(join(ROOT, name.endsWith(".ts") ? name : `node_modules/${name}`)))).toEqual([]);
  expect(names.filter((name) => loaded.has(name)).map((name) => `${loaded.get(name)} imports ${name}`)).toEqual([]);
});
