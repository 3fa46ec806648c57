import { expect, test } from "bun:test";
import { brave } from "./brave.ts";

const QUESTION = { maxResults: 5, freshness: null, safeSearch: "off", country: null, language: null, excluded: [] } as const;
const asked = (query: string, domains: readonly string[]) =>
  new URL(brave.request("https://brave.test", "key", { ...QUESTION, query, domains }).url).searchParams.get("q");

test("domains are added to a Brave query only if all of them fit", () => {
  expect(asked("otters", ["example.com", "a.test"])).toBe("otters (site:example.com OR site:a.test)");
  for (const query of ["o".repeat(375), "o".repeat(380), "o".repeat(400)]) expect(asked(query, ["example.com", "a.test"])).toBe(query);
});
