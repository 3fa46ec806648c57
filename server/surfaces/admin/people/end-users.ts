import { listOf } from "@gatehouse/contracts/conventions";
import {
  endUser,
  endUserCreate,
  endUserPrimaryGroup,
  endUserQuery,
  endUserStatus,
  endUserUpdate,
  madeEndUser,
  type MadeEndUser,
  photoSet,
} from "@gatehouse/contracts/end-users";
import { endUsersAsCsv, endUsersAsJson } from "../../../directory/people/end-user-export.ts";
import { endUsers, resetSecondFactor, setEndUserPrimaryGroup, setEndUserStatus } from "../../../directory/people/end-users.ts";
import { photo, PHOTO_BYTES, photoAt, PHOTOS, setPhoto } from "../../../directory/people/photos.ts";
import { refuse, Refused, isRefusal } from "../../../kernel/errors.ts";
import { readBody } from "../../../road/request/read-body.ts";
import { formFile } from "../../../wire/http/form-file.ts";
import { PHOTO_HEADERS } from "../../../wire/http/photo-headers.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf, listed } from "../resource.ts";
import { streamedAnswer } from "../streamed-answer.ts";

const PATH = "/v1/admin/end-users";
const ONE = `${PATH}/{id}`;
const reading = { tag: "End users", access: "users:read", reach: "one" } as const;
const writing = { tag: "End users", access: "users:write", reach: "one" } as const;
const record = { status: 200, about: "The record as it is now", schema: endUser } as const;

/** The largest photo, with room for the form around it. */
const FORM_BYTES = PHOTO_BYTES + 64 * 1024;

const PICTURE_TYPES = ["image/jpeg", "image/png", "image/webp", "image/gif"] as const;

function photoAnswer(found: Awaited<ReturnType<typeof photo>>): Response {
  if (found === null) throw new Refused(refuse("not_found"));
  return new Response(new Uint8Array(found.content), { headers: { ...PHOTO_HEADERS, "content-type": found.mime_type } });
}

export const endUserOperations: readonly AdminOperation[] = [
  operation({
    ...reading,
    method: "GET",
    path: `${PATH}/export/csv`,
    summary: "Export end users as CSV",
    description: "Every end user of the tenant. Text that a spreadsheet would run as a formula gets an apostrophe in front.",
    answer: { status: 200, about: "RFC 4180 text with a header line", media: "text/csv" },
    run: (call) => streamedAnswer(endUsersAsCsv(call.services.directory, call.tenantId), "text/csv", "end-users.csv"),
  }),
  operation({
    ...reading,
    method: "GET",
    path: `${PATH}/export/json`,
    summary: "Export end users as JSON",
    description: "`{users: [...]}` with every end user of the tenant.",
    answer: { status: 200, about: "All of them", media: "application/json" },
    run: (call) => streamedAnswer(endUsersAsJson(call.services.directory, call.tenantId), "application/json", "end-users.json"),
  }),
  operation({
    ...reading,
    method: "GET",
    path: PATH,
    summary: "List end users",
    query: endUserQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("users", endUser) },
    run: (call) => listed("users", call, (page) => endUsers.list(call.services.directory, call.tenantId, call.query, page)),
  }),
  operation({
    ...writing,
    method: "POST",
    path: PATH,
    summary: "Create an end user",
    description:
      "With `send_welcome_email` the user gets an e-mail about the account; `welcome_email_sent` says whether the mail server " +
      "accepted it. The user is created either way.",
    body: endUserCreate,
    answer: { status: 201, about: "The record made", schema: madeEndUser, record: (answer) => (answer as MadeEndUser).user },
    async run(call) {
      const made = await call.writeHashed(call.body.password, async (write) => ({
        user: await endUsers.create(write, call.tenantId, call.body),
        welcome_email_sent: false,
      }));
      // After the transaction: a slow mail server must not hold a connection, and a failing one must not undo the user.
      return call.body.send_welcome_email === true ? { ...made, welcome_email_sent: await call.services.welcome(made.user) } : made;
    },
  }),
  operation({
    ...reading,
    method: "GET",
    path: ONE,
    subject: "end_users",
    summary: "Read an end user",
    answer: { status: 200, about: "The record", schema: endUser },
    run: (call) => endUsers.get(call.services.directory, call.tenantId, idOf(call)),
  }),
  operation({
    ...writing,
    method: "PATCH",
    path: ONE,
    subject: "end_users",
    summary: "Change an end user",
    description: "Members left out of the body stay unchanged.",
    body: endUserUpdate,
    answer: record,
    run: (call) => call.writeHashed(call.body.password, (write) => endUsers.update(write, call.tenantId, idOf(call), call.body)),
  }),
  operation({
    ...writing,
    method: "DELETE",
    path: ONE,
    subject: "end_users",
    summary: "Delete an end user",
    description: "With their memberships, notifications, photo and own API keys. Audit rows stay.",
    answer: { status: 204, about: "Gone" },
    run: (call) => call.write((write) => endUsers.remove(write, call.tenantId, idOf(call))),
  }),
  operation({
    ...writing,
    method: "PATCH",
    path: `${ONE}/status`,
    subject: "end_users",
    summary: "Switch an end user on or off",
    body: endUserStatus,
    answer: record,
    run: (call) => call.write((write) => setEndUserStatus(write, call.tenantId, idOf(call), call.body.is_active)),
  }),
  operation({
    ...writing,
    method: "PATCH",
    path: `${ONE}/primary-group`,
    subject: "end_users",
    summary: "Put an end user in a resource group",
    description: "It becomes the user's primary group and replaces the one an administrator assigned before.",
    body: endUserPrimaryGroup,
    answer: record,
    run: (call) => call.write((write) => setEndUserPrimaryGroup(write, call.tenantId, idOf(call), call.body.group_id)),
  }),
  operation({
    ...reading,
    method: "GET",
    path: `${ONE}/photo`,
    subject: "end_users",
    summary: "Show an end user's photo",
    answer: { status: 200, about: "The picture", media: [...PICTURE_TYPES] },
    async run(call) {
      const { avatar_url: address } = await endUsers.get(call.services.directory, call.tenantId, idOf(call));
      return photoAnswer(await photoAt(call.services.directory, address));
    },
  }),
  operation({
    tag: "End users",
    access: "anyone",
    reach: "none",
    method: "GET",
    path: `${PHOTOS}{photo_id}`,
    textParams: ["photo_id"],
    summary: "Show a photo by its address",
    description:
      "Where `avatar_url` of a photo leads to, as on the runtime plane. Pictures of a page are fetched without a token: the " +
      "address itself is the secret.",
    answer: { status: 200, about: "The picture", media: [...PICTURE_TYPES] },
    run: async (call) => photoAnswer(await photo(call.services.directory, call.params.photo_id ?? "")),
  }),
  operation({
    ...writing,
    method: "POST",
    path: `${ONE}/photo`,
    subject: "end_users",
    summary: "Replace an end user's photo",
    description: "multipart/form-data with the file as `file`: JPEG, PNG, WebP or GIF, at most 5 MB.",
    upload: "file",
    answer: { status: 200, about: "Where the photo is, on both planes", schema: photoSet },
    async run(call) {
      await endUsers.get(call.services.directory, call.tenantId, idOf(call));
      const body = await readBody(call.request, FORM_BYTES);
      if (isRefusal(body)) throw new Refused(body);
      const file = await formFile(body, call.request.headers.get("content-type"), "file");
      if (file === null)
        throw new Refused(
          refuse("invalid_body", "file is required, as multipart/form-data", {
            fields: [{ field: "file", message: "is required, as multipart/form-data" }],
          }),
        );
      return { success: true, avatar_url: await call.write((write) => setPhoto(write, call.tenantId, idOf(call), file, "file")) };
    },
  }),
  operation({
    ...writing,
    method: "POST",
    path: `${ONE}/2fa/reset`,
    subject: "end_users",
    summary: "Switch an end user's second factor off",
    description: "For a user who has lost their device and their backup codes.",
    answer: record,
    run: (call) => call.write((write) => resetSecondFactor(write, call.tenantId, idOf(call))),
  }),
];
