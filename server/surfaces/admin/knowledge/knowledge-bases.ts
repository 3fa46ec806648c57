import { listOf } from "@gatehouse/contracts/conventions";
import {
  knowledgeBase,
  knowledgeBaseCreate,
  knowledgeBaseQuery,
  knowledgeBaseUpdate,
  knowledgeDocument,
  knowledgeDocumentQuery,
  knowledgeSearch,
  knowledgeSearchAnswer,
} from "@gatehouse/contracts/knowledge-bases";
import { deleteDocument, listDocuments, getDocument, reprocessDocument, uploadDocument } from "../../../directory/knowledge/documents.ts";
import { knowledgeBases } from "../../../directory/knowledge/knowledge-bases.ts";
import { refuse, Refused } from "../../../kernel/errors.ts";
import { CONTENT_READERS, readsContent } from "../content-readers.ts";
import { uploadedDocument } from "./document-upload.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf, listed, resource } from "../resource.ts";

const PATH = "/v1/admin/knowledgebases";
const DOCUMENTS = `${PATH}/{id}/documents`;
const ONE = `${DOCUMENTS}/{document_id}`;
const TAG = "Knowledge bases";
const of = { tag: TAG, reach: "one", subject: "knowledge_bases" } as const;
const reading = { ...of, access: "tools:read" } as const;
const writing = { ...of, access: "tools:write" } as const;

const documentOf = ({ params }: { readonly params: Readonly<Record<string, string>> }) => params.document_id ?? "";

export const knowledgeBaseOperations: readonly AdminOperation[] = [
  ...resource({
    path: PATH,
    key: "knowledgebases",
    noun: "knowledge base",
    tag: TAG,
    area: "tools",
    table: "knowledge_bases",
    records: knowledgeBases,
    query: knowledgeBaseQuery,
    create: knowledgeBaseCreate,
    update: knowledgeBaseUpdate,
    read: knowledgeBase,
    notes: {
      update: "Members left out of the body stay unchanged. With another embedding_model_id every document is embedded anew.",
      remove: "With its documents, their passages and its grants.",
    },
  }),
  operation({
    ...writing,
    method: "POST",
    path: DOCUMENTS,
    summary: "Upload a document",
    description:
      "multipart/form-data with the file as `file`: plain text, Markdown, CSV, HTML, PDF, DOCX, PPTX, XLSX or e-mail, at most 32 MiB; " +
      "beside it `name` (that of the file when left out) and `metadata` (a JSON object of texts, numbers and booleans). A document of the same name has a new " +
      "content then. It is read in the background: its status says how far it is, and why where it failed.",
    upload: "file",
    answer: { status: 202, about: "The document as it is now", schema: knowledgeDocument },
    async run(call) {
      await knowledgeBases.get(call.services.directory, call.tenantId, idOf(call));
      const document = await uploadedDocument(call.request);
      return call.write((write) => uploadDocument(write, call.tenantId, idOf(call), document));
    },
  }),
  operation({
    ...reading,
    method: "GET",
    path: DOCUMENTS,
    summary: "List documents of a knowledge base",
    query: knowledgeDocumentQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("documents", knowledgeDocument) },
    run: (call) => listed("documents", call, (page) => listDocuments(call.services.directory, call.tenantId, idOf(call), call.query, page)),
  }),
  operation({
    ...reading,
    method: "GET",
    path: ONE,
    summary: "Read a document",
    description: "Its name, state and figures.",
    answer: { status: 200, about: "The document", schema: knowledgeDocument },
    run: (call) => getDocument(call.services.directory, call.tenantId, idOf(call), documentOf(call)),
  }),
  operation({
    ...writing,
    method: "DELETE",
    path: ONE,
    summary: "Delete a document",
    description: "With its passages: nothing of it is found any more.",
    answer: { status: 204, about: "Gone" },
    run: (call) => call.write((write) => deleteDocument(write, call.tenantId, idOf(call), documentOf(call))),
  }),
  operation({
    ...writing,
    method: "POST",
    path: `${ONE}/reprocess`,
    summary: "Process a document again",
    description: "Until that is done, its previous passages are found.",
    answer: { status: 202, about: "The document as it is now", schema: knowledgeDocument },
    run: (call) => call.write((write) => reprocessDocument(write, call.tenantId, idOf(call), documentOf(call))),
  }),
  operation({
    ...reading,
    method: "POST",
    path: `${PATH}/{id}/search`,
    summary: "Try a search",
    description:
      "The passages that a call with this question would get, and those it would not with the reason, each with its rank by words " +
      "and by vectors. The question is embedded at the cost of the group that pays for the documents. The answer shows the content of " +
      "documents, including those few may read: it also requires `tools:write` or `proxy:logs:read_bodies`.",
    body: knowledgeSearch,
    answer: { status: 200, about: "At most 50 passages, the best first", schema: knowledgeSearchAnswer },
    async run(call) {
      if (!readsContent(call.admin))
        throw new Refused(refuse("forbidden", `This needs one of the permissions ${CONTENT_READERS.join(" or ")}.`));
      const base = await knowledgeBases.get(call.services.directory, call.tenantId, idOf(call));
      return call.services.searchKnowledge(base, call.body);
    },
  }),
];
