import { forgetBetweenPeople, startApp } from "@gatehouse/web-kit/app-frame.tsx";
import { resumeUnlessSignedOn } from "@gatehouse/web-kit/sign-on.tsx";
import { ConsoleApp } from "./console-app.tsx";
import { adminSession } from "./admin-client.ts";
import "./console.css";

forgetBetweenPeople(adminSession);
void resumeUnlessSignedOn(adminSession);
adminSession.followOtherTabs();
startApp(<ConsoleApp />);
