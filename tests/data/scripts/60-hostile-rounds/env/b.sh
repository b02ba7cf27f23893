export PATHS=$PATHS:$PATHS:/opt/b
. env/c.sh
. env/a.sh
