import * as files from "@gatehouse/contracts/file-answers";
import { runtimeError } from "@gatehouse/contracts/portal-answers";
import type { z } from "zod";
import type { DescribedAnswer, DescribedRoute } from "./described-route.ts";

const FILES = "/v1/proxy/files";
const OPENAI = "/v1/proxy/llm/files";
const BYTES: DescribedAnswer = { status: 200, media: "*/*" };

function file(summary: string, answer: DescribedAnswer | z.ZodType, more: Partial<DescribedRoute> = {}): DescribedRoute {
  return { tag: "Files", summary, answer: "status" in answer ? answer : { status: 200, schema: answer }, error: runtimeError, ...more };
}

/** What the runtime plane's document says of the routes of files. */
export const FILE_ROUTES: Readonly<Record<string, DescribedRoute>> = {
  [`POST ${FILES}`]: file("Stores a file", { status: 201, schema: files.fileRecord }, { body: files.fileForm, form: true }),
  [`GET ${FILES}`]: file("The files the caller may read", files.filePage, { query: files.filePageQuery }),
  [`DELETE ${FILES}`]: file("Deletes all files of a chat", files.filesDeleted, { query: files.filesOfChatQuery }),
  [`GET ${FILES}/:file_id`]: file("A file's record", files.fileRecord),
  [`GET ${FILES}/:file_id/url`]: file("An address that opens it without a credential", files.signedAddress, {
    query: files.signedAddressQuery,
  }),
  [`GET ${FILES}/:file_id/content`]: file("Its bytes", BYTES),
  [`DELETE ${FILES}/:file_id`]: file("Deletes it", files.fileDeleted),
  [`POST ${OPENAI}`]: file("Stores a file, in OpenAI's form", files.fileObject, { body: files.fileObjectForm, form: true }),
  [`GET ${OPENAI}`]: file("The files the caller may read, in OpenAI's form", files.fileObjectList, { query: files.fileObjectListQuery }),
  [`GET ${OPENAI}/:file_id`]: file("A file's record, in OpenAI's form", files.fileObject),
  [`GET ${OPENAI}/:file_id/content`]: file("Its bytes", BYTES),
  [`DELETE ${OPENAI}/:file_id`]: file("Deletes it", files.fileObjectDeleted),
};
