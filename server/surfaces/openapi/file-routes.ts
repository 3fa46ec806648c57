import * as files from "@gatehouse/contracts/file-answers";
import { runtimeError } from "@gatehouse/contracts/portal-answers";
import type { z } from "zod";
import type { DescribedAnswer, DescribedRoute } from "./described-route.ts";

const FILES = "/v1/proxy/files";
const OPENAI = "/v1/proxy/llm/files";
const ANTHROPIC = "/v1/files";
const GEMINI = "/v1beta/files";
const BYTES: DescribedAnswer = { status: 200, media: "*/*" };

function file(summary: string, answer: DescribedAnswer | z.ZodType, more: Partial<DescribedRoute> = {}): DescribedRoute {
  return { tag: "Files", summary, answer: "status" in answer ? answer : { status: 200, schema: answer }, error: runtimeError, ...more };
}

/** Descriptions of the file routes in the runtime plane's OpenAPI document. */
export const FILE_ROUTES: Readonly<Record<string, DescribedRoute>> = {
  [`POST ${FILES}`]: file("Upload a file", { status: 201, schema: files.fileRecord }, { body: files.fileForm, form: true }),
  [`GET ${FILES}`]: file("List files", files.filePage, { query: files.filePageQuery }),
  [`DELETE ${FILES}`]: file("Delete all files of a chat", files.filesDeleted, { query: files.filesOfChatQuery }),
  [`GET ${FILES}/:file_id`]: file("Retrieve a file", files.fileRecord),
  [`GET ${FILES}/:file_id/url`]: file("Create a signed URL for a file", files.signedAddress, { query: files.signedAddressQuery }),
  [`GET ${FILES}/:file_id/content`]: file("Download a file", BYTES),
  [`DELETE ${FILES}/:file_id`]: file("Delete a file", files.fileDeleted),
  [`POST ${OPENAI}`]: file("Upload a file (OpenAI)", files.fileObject, { body: files.fileObjectForm, form: true }),
  [`GET ${OPENAI}`]: file("List files (OpenAI)", files.fileObjectList, { query: files.fileObjectListQuery }),
  [`GET ${OPENAI}/:file_id`]: file("Retrieve a file (OpenAI)", files.fileObject),
  [`GET ${OPENAI}/:file_id/content`]: file("Download a file (OpenAI)", BYTES),
  [`DELETE ${OPENAI}/:file_id`]: file("Delete a file (OpenAI)", files.fileObjectDeleted),
  [`POST ${ANTHROPIC}`]: file("Upload a file (Anthropic)", files.fileMetadata, { body: files.fileMetadataForm, form: true }),
  [`GET ${ANTHROPIC}`]: file("List files (Anthropic)", files.fileMetadataList, { query: files.fileMetadataListQuery }),
  [`GET ${ANTHROPIC}/:file_id`]: file("Retrieve a file (Anthropic)", files.fileMetadata),
  [`GET ${ANTHROPIC}/:file_id/content`]: file("Download a file (Anthropic)", BYTES),
  [`DELETE ${ANTHROPIC}/:file_id`]: file("Delete a file (Anthropic)", files.fileMetadataDeleted),
  [`GET ${GEMINI}`]: file("List files (Gemini)", files.geminiFilePage, { query: files.geminiFilePageQuery }),
  [`GET ${GEMINI}/:file_id:download`]: file("Download a file (Gemini)", BYTES),
  [`GET ${ANTHROPIC}/:file_id:download`]: file("Download a file (Gemini)", BYTES),
  [`GET ${GEMINI}/:file_id`]: file("Retrieve a file (Gemini)", files.geminiFile),
  [`DELETE ${GEMINI}/:file_id`]: file("Delete a file (Gemini)", files.geminiFileDeleted),
  ...Object.fromEntries(
    ["v1beta", "v1"].map((version) => [
      `POST /upload/${version}/files`,
      file("Upload a file in pieces (Gemini)", files.geminiFileUploaded, {
        query: files.geminiUploadQuery,
        headers: ["x-goog-upload-command"],
      }),
    ]),
  ),
};
