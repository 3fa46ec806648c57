import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { rowSearchOf } from "./audit/row-search.ts";
import { ConsoleFrame, ConsoleNotFound } from "./console-frame.tsx";

const root = createRootRoute({ component: ConsoleFrame, notFoundComponent: ConsoleNotFound });

/** Every page of the console. A page is a file of its own, loaded when somebody goes there. */
const pages = [
  createRoute({ getParentRoute: () => root, path: "/", component: lazyRouteComponent(() => import("./pages/home.tsx"), "HomePage") }),
  createRoute({
    getParentRoute: () => root,
    path: "/audit",
    validateSearch: rowSearchOf,
    component: lazyRouteComponent(() => import("./pages/audit.tsx"), "AuditPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/approvals",
    component: lazyRouteComponent(() => import("./pages/approvals.tsx"), "WaitingApprovalsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/admin-log",
    component: lazyRouteComponent(() => import("./pages/admin-log.tsx"), "AdminLogPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/manage/$kind",
    component: lazyRouteComponent(() => import("./pages/records.tsx"), "RecordsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/manage/$kind/new",
    component: lazyRouteComponent(() => import("./pages/new-record.tsx"), "NewRecordPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/manage/$kind/$id",
    component: lazyRouteComponent(() => import("./pages/record.tsx"), "RecordPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/account",
    component: lazyRouteComponent(() => import("./pages/account.tsx"), "AccountPage"),
  }),
];

export const consoleRouter = createRouter({
  routeTree: root.addChildren(pages),
  basepath: "/console",
  defaultPreload: "intent",
  scrollRestoration: true,
});
