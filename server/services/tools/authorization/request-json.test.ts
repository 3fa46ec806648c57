import { expect, test } from "bun:test";
import { requestJson } from "./request-json.ts";
import { forwardedAnswer } from "./forward-form.ts";
import { isRefusal } from "../../../kernel/errors.ts";

const answered = async (text: string) => {
  const answer = await requestJson(async () => new Response(text), { url: "https://issuer.example/token" });
  if (isRefusal(answer)) throw new Error(answer.message);
  return answer;
};

test.each([
  '{"access_token":"a","Access_Token":"b"}',
  '{"ACCESS_TOKEN":"b"}',
  '{"acce\u017fs_token":"b"}',
  '{"access_token":"a","access_token":"b"}',
  '{"issuer":"https://issuer.example","Token_Endpoint":"https://other.example"}',
  '{"active":true,"details":{"scope":"a","SCOPE":"b"}}',
])("an ambiguous answer of an authorization server is rejected: %s", async (text) => {
  const answer = await answered(text);
  expect([answer.body, answer.text]).toEqual([null, ""]);
  expect(forwardedAnswer(answer)).toMatchObject({ code: "upstream_invalid_response" });
});

test("any other answer is passed on unchanged", async () => {
  const text = '{ "access_token": "a", "ext_expires_in": 9, "claims": {"Name": "x"} }';
  expect(forwardedAnswer(await answered(text))).toMatchObject({ kind: "passed", text });
});
