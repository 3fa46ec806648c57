import { expect, test } from "bun:test";
import { cpuMs } from "../../../tests/support/processes/cpu-time.ts";
import { robotsAllow } from "./robots.ts";

const ROBOTS = `# a comment
User-agent: other
User-agent: Gatehouse # two names, one group
Disallow: /private
Allow: /private/open
Disallow: /*.pdf$
Disallow: /search?*secret

User-agent: *
Disallow: /
`;

test.each([
  ["/", true],
  ["/private", false],
  ["/private/open/x", true],
  ["/a/b.pdf", false],
  ["/a/b.pdf?x", true],
  ["/search?q=secret", false],
])("the longest matching robots.txt rule decides on %s (allowed: %p)", (path, allowed) => {
  expect(robotsAllow(ROBOTS, "gatehouse", path)).toBe(allowed);
});

test("a user agent not named in robots.txt follows the * group, and an empty file allows everything", () => {
  expect(robotsAllow(ROBOTS, "somebody", "/x")).toBe(false);
  expect(robotsAllow("", "gatehouse", "/x")).toBe(true);
  expect(robotsAllow("User-agent: *\nDisallow:\n", "gatehouse", "/x")).toBe(true);
});

test("a robots.txt with many wildcards is evaluated in linear time", () => {
  const hostile = `User-agent: *\n${`Disallow: /${"*a".repeat(8)}$\n`.repeat(2_000)}`;
  const before = cpuMs();
  expect(robotsAllow(hostile, "gatehouse", `/${"a".repeat(1_900)}b`)).toBe(true);
  expect(cpuMs(before)).toBeLessThan(200);
});
