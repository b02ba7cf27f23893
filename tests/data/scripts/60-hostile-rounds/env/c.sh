for f in env/*.sh; do source "$f"; done
for f in env/*.sh; do . "$f"; done
cat <<NEVER
this text has no end
