import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { appendFile, cp, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { removeDirectory, temporaryDirectory } from "../../support/gateway.ts";

const PROJECT = fileURLToPath(new URL("../../..", import.meta.url));
/** A copy of the project, as a developer would have it. */
let copy: string;

beforeAll(async () => {
  copy = await temporaryDirectory();
  for (const name of ["bin", "server", "packages", "package.json", "package-lock.json"])
    await cp(join(PROJECT, name), join(copy, name), {
      recursive: true,
      filter: (path) => !/\/(node_modules|dist)$|\.test\.ts$/.test(path),
    });
  await symlink(join(PROJECT, "node_modules"), join(copy, "node_modules"));
});
afterAll(() => removeDirectory(copy));

function node(...args: string[]): { readonly status: number | null; readonly text: string } {
  const { status, stdout, stderr } = spawnSync("node", args, { cwd: copy, encoding: "utf8" });
  return { status, text: stdout + stderr };
}
const build = () => node("bin/build-server.mjs");
const verify = () => node("bin/gatehouse.mjs", "verify", "--help").text;
const program = () => {
  const { text } = node("--input-type=module", "-e", 'console.log((await import("./bin/server-bundle.mjs")).serverProgram())');
  return relative(copy, text.trim());
};
const bundles = async () => (await readdir(join(copy, "server", "dist"))).filter((name) => !name.startsWith("."));
/** Its import looks the model up in the price catalog. */
const LITELLM_MODEL = `model_list:
  - model_name: small
    litellm_params:
      model: openai/gpt-4o-mini
      api_key: os.environ/OPENAI_API_KEY
`;
const EDITED = "this is the edited source";

test("the server runs from one bundle built from its source", async () => {
  expect(program()).toBe("server/main.ts");
  const help = verify();
  expect(help).toContain("gatehouse verify certificate");

  expect(build()).toMatchObject({ status: 0, text: expect.stringContaining("Bundled the server in") });
  const [first] = await bundles();
  expect(program()).toBe(`server/dist/${first}/main.js`);
  expect(verify()).toBe(help);
  expect(build()).toEqual({ status: 0, text: "" });
});

test("a bundle is used only until the source changes", async () => {
  const [first] = await bundles();
  await appendFile(join(copy, "server", "cli", "verify.ts"), `\nprocess.stdout.write("${EDITED}\\n");\n`);
  expect(program()).toBe("server/main.ts");
  expect(verify()).toContain(EDITED);
  expect(build().status).toBe(0);
  expect(program()).toMatch(/^server\/dist\/\w+\/main\.js$/);
  expect(program()).not.toBe(`server/dist/${first}/main.js`);
  expect(verify()).toContain(EDITED);
});

test("the bundle leaves out packages that are loaded at first use, and finds them from its folder", async () => {
  expect(build().status).toBe(0);
  const bundle = await readFile(join(copy, program()), "utf8");
  const packages = new Set([...bundle.matchAll(/^ *\/\/ .*\bnode_modules\/((?:@[^/\n]+\/)?[^/\n]+)\//gm)].map(([, name]) => name));
  expect(packages.has("kysely")).toBe(true);
  const left = ["@pydantic/genai-prices", "nodemailer", "libpg-query", "@guanmingchiu/sqlparser-ts", "fflate"];
  expect(left.filter((name) => packages.has(name))).toEqual([]);
  expect(bundle.length).toBeLessThan(8_100_000);

  await writeFile(join(copy, "litellm.yaml"), LITELLM_MODEL);
  const imported = node("bin/gatehouse.mjs", "import", "litellm", "litellm.yaml");
  // Else it would tell that the price is not known.
  expect(imported.text).toContain("gpt-4o-mini");
  expect(imported.text).toContain("Everything in it has an equal here.");
  expect(imported.status).toBe(0);
});

test("no module of the bundle loops much while it is loaded", () => {
  expect(build().status).toBe(0);
  const compiled = spawnSync("node", ["bin/gatehouse.mjs", "verify", "--help"], {
    cwd: copy,
    encoding: "utf8",
    env: { ...process.env, BUN_JSC_useConcurrentJIT: "0", BUN_JSC_reportCompileTimes: "1" },
  });
  const instructions = [...compiled.stderr.matchAll(/, (\d+)(?: \([^)]*\))*\] using Baseline/g)].map(([, length]) => Number(length));
  expect(instructions.length).toBeGreaterThan(10);
  expect(Math.max(...instructions)).toBeLessThan(100_000);
});

const PAGES = "web/kit/build/build-pages.mjs";

/** Runs the build with `pages` as the script that builds the pages. */
async function buildWith(pages: string): Promise<ReturnType<typeof node>> {
  await mkdir(join(copy, dirname(PAGES)), { recursive: true });
  await writeFile(join(copy, PAGES), pages);
  return node("bin/build.mjs");
}

test("pages and server are built in parallel; a failure of the pages fails the build but keeps the server's bundle", async () => {
  await rm(join(copy, "server", "dist"), { recursive: true, force: true });
  // The script ends only once the server's build has begun.
  const failed = await buildWith(
    'import { existsSync } from "node:fs"; while (!existsSync("server/dist")) await new Promise((next) => setTimeout(next, 10)); console.error("The pages could not be built"); process.exitCode = 1;',
  );
  expect(failed).toMatchObject({
    status: 1,
    text: expect.stringMatching(/^Bundling the server .*\nThe pages could not be built\nBundled the server/),
  });
  expect(program()).toMatch(/^server\/dist\/\w+\/main\.js$/);

  expect(await buildWith('console.error("Built the pages");')).toEqual({ status: 0, text: "Built the pages\n" });
});

test("a copy without a lock file starts too", async () => {
  await rm(join(copy, "package-lock.json"));
  expect(verify()).toContain(EDITED);
});

test("the server starts from its source if no bundle can be written", async () => {
  await rm(join(copy, "server", "dist"), { recursive: true });
  await writeFile(join(copy, "server", "dist"), "in the way");
  expect(build()).toMatchObject({ status: 0, text: expect.stringContaining("The server is started from its source, which takes longer") });
  expect(program()).toBe("server/main.ts");
  expect(verify()).toContain(EDITED);
});
