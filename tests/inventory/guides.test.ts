import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const pagesIn = (folder: string) =>
  readdirSync(join(PROJECT, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name));
const GUIDES = pagesIn("docs/guides");
const PAGES = [
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "docs/lifecycle.md",
  "docs/glossary.md",
  "docs/peers.md",
  "tests/faults/README.md",
  "bench/README.md",
  ...GUIDES,
  ...pagesIn("docs/reference"),
  ...pagesIn("docs/decisions"),
];
/** About five lines of 120 characters. */
const MAX_PARAGRAPH_LENGTH = 600;

const textOf = (page: string) => readFileSync(join(PROJECT, page), "utf8").replaceAll(/```.*?```/gs, "");
/** The anchors that GitHub generates from headings. */
const anchorsOf = (page: string) =>
  [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );

describe.each(PAGES)("%s", (page) => {
  test("has no broken links to pages and headings", () => {
    const links = [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link).filter((link) => !/^\w+:/.test(link));
    const broken = links.filter((link) => {
      const [path = "", anchor] = link.split("#");
      const target = path === "" ? page : join(dirname(page), path);
      if (!existsSync(join(PROJECT, target))) return true;
      return anchor !== undefined && !anchorsOf(target).includes(anchor);
    });
    expect(broken).toEqual([]);
  });
});

test.each(["README.md", "docs/lifecycle.md", "docs/glossary.md", ...GUIDES])("%s has no paragraph that is too long", (page) => {
  const lines = textOf(page)
    .split("\n")
    .filter((line) => !line.startsWith("|"));
  expect(lines.filter((line) => line.length > MAX_PARAGRAPH_LENGTH)).toEqual([]);
});

test("the README links to every guide", () => {
  const readme = textOf("README.md");
  expect(GUIDES.filter((guide) => !readme.includes(`](${guide})`))).toEqual([]);
});

test.each(["surfaces", "controls", "services", "upstreams"])("the map in ARCHITECTURE.md names every folder below server/%s", (folder) => {
  const line = readFileSync(join(PROJECT, "ARCHITECTURE.md"), "utf8")
    .split("\n")
    .find((one) => one.startsWith(`| \`server/${folder}/\``));
  const below = readdirSync(join(PROJECT, "server", folder), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(below.map(({ name }) => name).filter((name) => line?.includes(`\`${name}/`) !== true)).toEqual([]);
});
