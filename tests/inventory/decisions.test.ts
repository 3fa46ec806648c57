import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../../docs/decisions/", import.meta.url));
const FILES = readdirSync(FOLDER)
  .filter((name) => /^\d{4}-/.test(name))
  .sort();
const HEAD = /^# (\d{4}) ([^\n]+)\n\nDate: (\d{4}-\d\d-\d\d)\. Status: (accepted|superseded by \[\d{4}\]\(([^)]+)\))\.\n\n/;
const read = (name: string) => HEAD.exec(readFileSync(`${FOLDER}${name}`, "utf8"));

test.each(FILES)("%s begins with its number, a date and a status", (name) => {
  const [, number, , date = "", , successor] = read(name) ?? [];
  expect(number).toBe(name.slice(0, 4));
  expect(Number.isNaN(Date.parse(date))).toBe(false);
  if (successor !== undefined) expect(FILES).toContain(successor);
});

test("the index lists every decision with its title, date and status", () => {
  const rows = FILES.map((name) => {
    const [, number, title, date, status] = read(name) ?? [];
    return `| [${number}](${name}) | ${title} | ${date} | ${status} |`;
  });
  const index = readFileSync(`${FOLDER}README.md`, "utf8");
  expect(index.split("\n").filter((line) => line.startsWith("| ["))).toEqual(rows);
});
