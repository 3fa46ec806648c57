import { expect, test } from "bun:test";
import { cpuMs } from "../../../tests/support/processes/cpu-time.ts";
import { shownAttributes } from "./shown-attributes.ts";

const ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
const person = {
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
  id: "1",
  userName: "ada",
  name: { givenName: "Ada", familyName: "Lovelace" },
  emails: [{ value: "ada@example.com", type: "work" }],
  [ENTERPRISE]: { department: "engines", manager: { value: "2", displayName: "Charles" } },
};
const shown = (query: Record<string, string>) => {
  const { schemas: _schemas, id: _id, ...others } = shownAttributes(person, new URLSearchParams(query));
  return others;
};

test("of a complex attribute only the requested sub-attributes are returned", () => {
  expect(shown({ attributes: `name.givenName,emails.VALUE,${ENTERPRISE}:manager.value` })).toEqual({
    name: { givenName: "Ada" },
    emails: [{ value: "ada@example.com" }],
    [ENTERPRISE]: { manager: { value: "2" } },
  });
  expect(shown({ attributes: "name.nothing,emails.primary,userName" })).toEqual({ userName: "ada" });
  expect(shown({ attributes: "urn:ietf:params:scim:schemas:core:2.0:User:userName,name" })).toEqual({ userName: "ada", name: person.name });
});

test("an excluded sub-attribute is left out, and the rest of its attribute stays", () => {
  expect(shown({ excludedAttributes: `name.familyName,emails,userName,${ENTERPRISE}:department` })).toEqual({
    name: { givenName: "Ada" },
    [ENTERPRISE]: { manager: { value: "2", displayName: "Charles" } },
  });
});

test("the ID and schemas are always returned", () => {
  expect(shownAttributes(person, new URLSearchParams({ attributes: "nickName" }))).toEqual({ schemas: person.schemas, id: "1" });
  expect(shownAttributes(person, new URLSearchParams({ excludedAttributes: "id,schemas" }))).toEqual(person);
});

test("a query with many sub-attributes of a large group is answered quickly", () => {
  const members = Array.from({ length: 50_000 }, (_, at) => ({ value: String(at), display: "somebody", type: "User" }));
  const attributes = Array.from({ length: 1_000 }, (_, at) => `members.part${at}`).join(",");
  const before = cpuMs();
  const { members: returned } = shownAttributes({ ...person, members }, new URLSearchParams({ attributes: `${attributes},members.value` }));
  expect(cpuMs(before)).toBeLessThan(2_000);
  expect([(returned as unknown[]).length, (returned as unknown[])[7]]).toEqual([50_000, { value: "7" }]);
});
