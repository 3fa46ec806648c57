import { describe, expect, test } from "bun:test";
import { scimObject, type ScimObject } from "./attributes.ts";
import { readPatch } from "./patch-operations.ts";
import { patched } from "./patch.ts";
import { USERS } from "./resource-types.ts";

const unheard = () => undefined;

function after(operations: readonly object[], before: object = {}): ScimObject {
  const read = readPatch(USERS, { Operations: operations }, unheard);
  return read.reduce<ScimObject>(
    (resource, operation) => patched(USERS, resource, operation, unheard),
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

describe("a PATCH is refused when it would do too much", () => {
  test.each([
    ["in one operation without a path", [{ op: "add", value: byFilter(1_001) }]],
    [
      "in several of them",
      [
        { op: "add", value: byFilter(600) },
        { op: "replace", value: byFilter(600) },
      ],
    ],
    ["in operations that say nothing", Array.from({ length: 1_001 }, () => ({ op: "add", value: {} }))],
    ["in operations with a path", Array.from({ length: 1_001 }, () => ({ op: "add", path: "title", value: "x" }))],
  ])("%s", (_what, operations) => {
    expect(thrown(() => after(operations))).toEqual(refusal(413, "tooMany"));
  });

  test("by more values than one operation may give, whether they come whole or one by one", () => {
    const whole = [
      { op: "add", path: "emails", value: emails(200) },
      { op: "add", path: "emails", value: emails(1, "more") },
    ];
    expect(thrown(() => after(whole))).toEqual(refusal(400, "invalidValue"));
    expect(thrown(() => after([{ op: "add", value: byFilter(201) }]))).toEqual(refusal(400, "invalidValue"));
    expect(after([{ op: "add", value: byFilter(200) }]).emails).toHaveLength(200);
  });

  test("and not for what was stored before: it may become less", () => {
    const before = { emails: emails(300) };
    expect(after([{ op: "remove", path: 'emails[value eq "7"]' }], before).emails).toHaveLength(299);
    expect(thrown(() => after([{ op: "add", path: "emails", value: emails(1, "more") }], before))).toEqual(refusal(400, "invalidValue"));
  });
});

describe("values that say the same are one", () => {
  const work = { value: "a@example.com", type: "work" };

  test.each([
    ["the type in another case", { ...work, type: "WORK" }, 1],
    ["another type", { ...work, type: "home" }, 2],
    ["no type", { value: work.value }, 2],
    ["other words about it", { ...work, display: "Ada" }, 1],
    ["another value", { ...work, value: "A@example.com" }, 2],
  ])("%s", (_what, other, count) => {
    expect(after([{ op: "add", path: "emails", value: other }], { emails: [work] }).emails).toHaveLength(count);
    const left = after([{ op: "remove", path: "emails", value: [other] }], { emails: [work] }).emails;
    expect(left).toEqual(count === 1 ? undefined : [expect.objectContaining(work)]);
  });

  test("without a value, whatever the order of what they say", () => {
    const before = { addresses: [{ locality: "Bern", country: "CH" }] };
    const added = after([{ op: "add", path: "addresses", value: { country: "CH", locality: "Bern" } }], before).addresses;
    expect(added).toHaveLength(1);
    expect(after([{ op: "add", path: "addresses", value: { locality: "Bern" } }], before).addresses).toHaveLength(2);
  });
});
