"""Users, keys, the audit log and who one is, as JSON."""

from __future__ import annotations

from marshmallow import fields, validate

from app.api.schemas.fields import Flag, Json, Line, Strict, Text
from app.api.schemas.pages import PageQuery
from app.domain.audit import Action
from app.domain.principals import Role


class UserCreateSchema(Strict):
    """A new user."""

    name = Line(longest=200, required=True)
    role = fields.String(
        load_default=Role.MEMBER, validate=validate.OneOf([role.value for role in Role])
    )


class UserChangeSchema(Strict):
    """What to change of a user; what is left out stays."""

    role = fields.String(validate=validate.OneOf([role.value for role in Role]))
    disabled = Flag(metadata={"description": "Whether its keys are refused."})


class UserSchema(Strict):
    """A person in the tenant."""

    id = fields.UUID()
    name = fields.String()
    role = fields.String()
    created_at = fields.String()
    disabled_at = fields.String(allow_none=True)


class UserPageSchema(Strict):
    """A page of users."""

    items = fields.List(fields.Nested(UserSchema))
    next = fields.String(allow_none=True)


class KeyCreateSchema(Strict):
    """A new key; without `user_id` it acts as who asks."""

    name = Line(longest=200, required=True)
    user_id = fields.UUID(load_default=None)
    expires_at = fields.AwareDateTime(load_default=None, format="iso")


class KeySchema(Strict):
    """What may be shown of a key."""

    id = fields.UUID()
    prefix = fields.String()
    name = fields.String()
    user_id = fields.UUID()
    created_by = fields.UUID(allow_none=True)
    created_at = fields.String()
    last_used_at = fields.String(allow_none=True)
    expires_at = fields.String(allow_none=True)
    revoked_at = fields.String(allow_none=True)


class NewKeySchema(KeySchema):
    """A key as it is shown once."""

    key = fields.String(metadata={"description": "The secret. It is never shown again."})


class KeyPageSchema(Strict):
    """A page of keys."""

    items = fields.List(fields.Nested(KeySchema))
    next = fields.String(allow_none=True)


class TenantSchema(Strict):
    """The isolated account."""

    id = fields.UUID()
    name = fields.String()


class TenantSettingsSchema(TenantSchema):
    """The tenant with what its admins may change."""

    trace_llm_content = fields.Boolean(
        metadata={"description": "Whether requests and answers may stand on spans."}
    )


class TenantChangeSchema(Strict):
    """What to change of the tenant; what is left out stays."""

    trace_llm_content = Flag(
        metadata={"description": "Whether requests and answers may stand on spans."}
    )


class MeSchema(Strict):
    """Who asks."""

    tenant = fields.Nested(TenantSchema)
    user = fields.Nested(UserSchema)
    role = fields.String()
    key = fields.Nested(KeySchema)


class SignInSchema(Strict):
    """Signing in on the admin page."""

    key = Text(required=True, metadata={"description": "An API key: hk_…"})


class WebSessionSchema(MeSchema):
    """Who is signed in on the admin page."""

    csrf_token = fields.String(
        metadata={"description": "What to send as X-CSRF-Token with everything that changes."}
    )
    created_at = fields.String()
    expires_at = fields.String(metadata={"description": "When it ends, however much it is used."})
    idle_expires_at = fields.String(
        metadata={"description": "When it ends if it is not used from now on."}
    )


class AuditEventSchema(Strict):
    """Who did what to which target, and when."""

    id = fields.UUID()
    at = fields.String()
    user_id = fields.UUID(allow_none=True)
    key_id = fields.UUID(allow_none=True)
    action = fields.String()
    target_kind = fields.String()
    target_id = fields.String()
    outcome = fields.String()
    detail = Json()
    request_id = fields.String(allow_none=True)
    trace_id = fields.String(allow_none=True)
    address = fields.String(allow_none=True)


class AuditPageSchema(Strict):
    """A page of audited actions, newest first."""

    items = fields.List(fields.Nested(AuditEventSchema))
    next = fields.String(allow_none=True)


class AuditQuery(PageQuery):
    """Filters of the audit log."""

    action = fields.String(
        load_default=None, validate=validate.OneOf([action.value for action in Action])
    )
