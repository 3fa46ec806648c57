import { describe, expect, test } from "bun:test";
import { scimObject, type ScimObject } from "./attributes.ts";
import { readPatch } from "./patch-operations.ts";
import { patched } from "./patch.ts";
import { USERS } from "./resource-types.ts";

const onIgnored = () => undefined;

function after(operations: readonly object[], before: object = {}): ScimObject {
  const read = readPatch(USERS, { Operations: operations }, onIgnored);
  return read.reduce<ScimObject>(
    (resource, operation) => patched(USERS, resource, operation, onIgnored),
    Object.assign(scimObject(), before),
  );
}

const emails = (length: number, prefix = "") => Array.from({ length }, (_, at) => ({ value: `${prefix}${at}` }));
const byFilter = (length: number) => Object.fromEntries(Array.from({ length }, (_, at) => [`emails[value eq "${at}"].display`, "x"]));
const refusal = (status: number, scimType: string) => expect.objectContaining({ status, scimType });

function thrown(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("a SCIM PATCH that is too large is refused", () => {
  test.each([
    ["in one operation without a path", [{ op: "add", value: byFilter(1_001) }]],
    [
      "in several operations without a path",
      [
        { op: "add", value: byFilter(600) },
        { op: "replace", value: byFilter(600) },
      ],
    ],
    ["in empty operations", Array.from({ length: 1_001 }, () => ({ op: "add", value: {} }))],
    ["in operations with a path", Array.from({ length: 1_001 }, () => ({ op: "add", path: "title", value: "x" }))],
  ])("with too many changes %s", (_what, operations) => {
    expect(thrown(() => after(operations))).toEqual(refusal(413, "tooMany"));
  });

  test("with more values than one operation may add", () => {
    const whole = [
      { op: "add", path: "emails", value: emails(200) },
      { op: "add", path: "emails", value: emails(1, "more") },
    ];
    expect(thrown(() => after(whole))).toEqual(refusal(400, "invalidValue"));
    expect(thrown(() => after([{ op: "add", value: byFilter(201) }]))).toEqual(refusal(400, "invalidValue"));
    expect(after([{ op: "add", value: byFilter(200) }]).emails).toHaveLength(200);
  });

  test("but stored values over the limit may be reduced", () => {
    const before = { emails: emails(300) };
    expect(after([{ op: "remove", path: 'emails[value eq "7"]' }], before).emails).toHaveLength(299);
    expect(thrown(() => after([{ op: "add", path: "emails", value: emails(1, "more") }], before))).toEqual(refusal(400, "invalidValue"));
  });
});

describe("equal SCIM values are stored once", () => {
  const work = { value: "a@example.com", type: "work" };

  test.each([
    ["for the type in another case: stored once", { ...work, type: "WORK" }, 1],
    ["for another type: stored separately", { ...work, type: "home" }, 2],
    ["without a type: stored separately", { value: work.value }, 2],
    ["for another display name: stored once", { ...work, display: "Ada" }, 1],
    ["for a value in another case: stored separately", { ...work, value: "A@example.com" }, 2],
  ])("%s", (_what, other, count) => {
    expect(after([{ op: "add", path: "emails", value: other }], { emails: [work] }).emails).toHaveLength(count);
    const left = after([{ op: "remove", path: "emails", value: [other] }], { emails: [work] }).emails;
    expect(left).toEqual(count === 1 ? undefined : [expect.objectContaining(work)]);
  });

  test("for values without a value member, in any order of members", () => {
    const before = { addresses: [{ locality: "Bern", country: "CH" }] };
    const added = after([{ op: "add", path: "addresses", value: { country: "CH", locality: "Bern" } }], before).addresses;
    expect(added).toHaveLength(1);
    expect(after([{ op: "add", path: "addresses", value: { locality: "Bern" } }], before).addresses).toHaveLength(2);
  });
});
