import { expect, test } from "bun:test";
import { Refused } from "../../kernel/errors.ts";
import { vouched } from "./vouched.ts";

const named = (username: string) =>
  vouched({ allowed: true, reason: null, subject: "s", username, email: null, display_name: null, groups: [] } as never);

test.each(["\u202enimda", "ad\u200bmin", "admin\ufe0f", "admin\u3164", " \n "])(
  "a username from an identity provider with invisible characters is refused: %j",
  (username) => {
    expect(() => named(username)).toThrow(Refused);
  },
);

test("a username from an identity provider may be in any script", () => {
  for (const username of ["mary", "J\u00f6rg \u00c5ngstr\u00f6m", "\u0939\u093f\u0928\u094d\u0926\u0940"])
    expect(named(username).username).toBe(username);
});
